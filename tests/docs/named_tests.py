"""Which tests cover a threat or a fault, as their docstrings say."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from tests.docs.pages import ROOT

#: The identifiers in a docstring.
Reader = Callable[[str], set[str]]
TestsById = Mapping[str, Sequence[str]]

#: More tests than this are only counted.
SHOWN_TESTS = 3


@cache
def find_tests(read: Reader) -> TestsById:
    """`tests/…/test_x.py::test_y` for each identifier, sorted; a file alone where its docstring names it."""
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        path = str(file.relative_to(ROOT))
        for name, text in _texts_of(ast.parse(file.read_text("utf-8"))):
            for id in sorted(read(text)):
                found.setdefault(id, []).append(f"{path}::{name}" if name else path)
    return found


def _texts_of(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Names and docstrings: of the file, without a name, and of its tests."""
    yield "", ast.get_docstring(module) or ""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_":
            yield node.name, ast.get_docstring(node) or ""


def table_rows(
    what: str, texts: Mapping[str, str], tests: TestsById, reasons: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    """A row for each identifier: its text, and its tests, or the reason why it has none."""
    yield "", what, "tests"
    for id, text in texts.items():
        names = [test.rpartition("::")[2] for test in tests.get(id, [])]
        yield id, text, _list(names) if names else reasons.get(id, "no test")


def _list(names: Sequence[str]) -> str:
    """Tests first, then whole files."""
    unique = sorted(dict.fromkeys(names), key=lambda name: name.startswith("tests/"))
    more = [f"{len(names) - SHOWN_TESTS} more"] if len(names) > SHOWN_TESTS else []
    return ", ".join([*(f"`{name}`" for name in unique[:SHOWN_TESTS]), *more])
