"""A file defines one noun, and a function does one thing: both are short enough to read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[1]
#: The benchmarks too: they are read to see what was measured. Tests and examples are as long as their story.
FILES = sorted(
    file
    for top in ("hitl_core", "bot", "slack_sandbox", "teams_sandbox", "benchmarks")
    for file in (ROOT / top).rglob("*.py")
)
#: In lines, with docstrings and blank lines.
FILE_LINES, FUNCTION_LINES, MEDIAN_LINES = 250, 50, 150
#: Files and functions (`file:function`) that are longer and must be split. The list only shrinks.
TOO_LONG = frozenset[str]()


def long_parts(name: str, text: str) -> Iterator[str]:
    """The file and its functions that are too long."""
    if len(text.splitlines()) > FILE_LINES:
        yield name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            if node.end_lineno - node.lineno + 1 > FUNCTION_LINES:
                yield f"{name}:{node.name}"


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {str(file.relative_to(ROOT)): file.read_text() for file in FILES}


def test_no_file_and_no_function_is_too_long(texts: dict[str, str]):
    """Given all files of the programs, then only what is still to be split is longer than the limits."""
    found = {part for name, text in texts.items() for part in long_parts(name, text)}

    assert found - TOO_LONG == set(), "split these"
    assert TOO_LONG - found == set(), "these are short enough: take them off the list"


def test_most_files_are_short(texts: dict[str, str]):
    assert median(len(text.splitlines()) for text in texts.values()) < MEDIAN_LINES


def test_what_is_too_long_is_found():
    """Given a file and a function one line longer than allowed, then both are named; at the limit neither."""
    body = "def f():\n" + "    pass\n" * (FUNCTION_LINES - 1)

    assert list(long_parts("a", body)) == []
    assert list(long_parts("a", body + "    pass\n")) == ["a:f"]
    assert list(long_parts("a", "x = 1\n" * FILE_LINES)) == []
    assert list(long_parts("a", "x = 1\n" * (FILE_LINES + 1))) == ["a"]
