"""Other packages import only a package's `__init__`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = ("hitl_core", "bot", "slack_sandbox", "teams_sandbox")
# Folders that only hold packages.
GROUPS = {*PROGRAMS, "hitl_core.integrations", "bot.channels"}
FILES = sorted(
    file for top in (*PROGRAMS, "examples", "benchmarks") for file in (ROOT / top).rglob("*.py")
)
# With the packages, whose name is their folder's.
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in FILES
}


def list_imports(file: Path) -> Iterator[tuple[int, str]]:
    """The line and the full name of each module of ours that a file imports, or imports names from."""
    folder = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = folder[: len(folder) - node.level + 1] if node.level else ()
        parts = (*base, *filter(None, [node.module]))
        module = ".".join(parts)
        if parts[0] not in PROGRAMS:
            continue
        # `from .. import name`: the folder itself is no face, only what is named.
        if module in GROUPS or folder[: len(parts)] == parts:
            for alias in node.names:
                full = f"{module}.{alias.name}"
                yield node.lineno, full if full in MODULES else module
        else:
            yield node.lineno, module


def face_of(importer: tuple[str, ...], module: str) -> str:
    """What `importer` (a folder) must name in place of `module`: the outermost package that it is not in."""
    parts = tuple(module.split("."))
    depth = 0
    while depth < len(parts) and parts[: depth + 1] == importer[: depth + 1]:
        depth += 1
    depth += 1
    while ".".join(parts[:depth]) in GROUPS and depth < len(parts):
        depth += 1
    return ".".join(parts[:depth])


def wrong_imports(file: Path) -> list[str]:
    folder = file.relative_to(ROOT).parent.parts
    return [
        f"{file.relative_to(ROOT)}:{line} imports {module}: import from {face}"
        for line, module in list_imports(file)
        if (face := face_of(folder, module)) != module
    ]


@pytest.mark.parametrize("top", sorted({file.relative_to(ROOT).parts[0] for file in FILES}))
def test_a_package_is_imported_by_its_face(top: str):
    """Given all files of a program, then each imports other packages by their `__init__` alone."""
    files = [file for file in FILES if file.relative_to(ROOT).parts[0] == top]
    wrong = [line for file in files for line in wrong_imports(file)]
    assert not wrong, "\n".join(wrong)


def test_every_room_says_what_it_is_for():
    silent = [
        str(file.parent.relative_to(ROOT))
        for file in FILES
        if file.name == "__init__.py"
        and file.parent.name != "examples"
        and not ast.get_docstring(ast.parse(file.read_text()))
    ]
    assert not silent


@pytest.mark.parametrize(
    ("importer", "module", "face"),
    [
        ("bot/outbox", "bot.card.compose", "bot.card"),
        ("bot", "bot.channels.slack.transport.api", "bot.channels.slack"),
        ("bot/channels/slack/handlers", "bot.channels.slack.ids", "bot.channels.slack.ids"),
        ("hitl_core/gate/waiting", "hitl_core.gate.outcome.answers", "hitl_core.gate.outcome"),
        ("hitl_core/gate/waiting", "hitl_core.gate.gate", "hitl_core.gate.gate"),
        ("examples", "hitl_core.errors", "hitl_core.errors"),
    ],
)
def test_the_face_is_that_of_the_outermost_other_room(importer: str, module: str, face: str):
    assert face_of(tuple(importer.split("/")), module) == face
