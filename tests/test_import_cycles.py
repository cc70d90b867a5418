"""No file imports itself through others, also within one package."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = ("hitl_core", "bot", "slack_sandbox", "benchmarks")
FILES = sorted(file for top in PROGRAMS for file in (ROOT / top).rglob("*.py"))


def module_of(file: Path) -> str:
    """The dotted name; a package has the name of its folder."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = frozenset(map(module_of, FILES))


def module_level(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run at import, and those that only a type checker reads."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield node
        for block in ("body", "orelse", "finalbody"):
            yield from module_level(getattr(node, block, []))


def imports(text: str, package: str, modules: frozenset[str]) -> set[str]:
    """The modules of ours that a file in `package` imports."""
    found: set[str] = set()
    for node in module_level(ast.parse(text).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= names & modules if names <= modules else {module, *(names & modules)}
    return found & modules


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, each imported by the next; [] if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_circle(program: str):
    """Given all files of a program, then none imports itself over others."""
    graph = {
        module_of(file): imports(
            file.read_text(), ".".join(file.relative_to(ROOT).parent.parts), MODULES
        )
        for file in FILES
        if file.relative_to(ROOT).parts[0] == program
    }

    assert find_cycle(graph) == []


def test_a_circle_over_a_face_is_found():
    """Given a file that imports its own package's face, then that is a circle, also for types alone."""
    modules = frozenset({"pack", "pack.a", "pack.b"})
    lazily = "def f():\n    from . import b\n"
    typed = "if TYPE_CHECKING:\n    from . import B\n"

    assert imports(lazily, "pack", modules) == set()
    assert imports("from . import b", "pack", modules) == {"pack.b"}
    assert imports("from .b import B", "pack", modules) == {"pack.b"}
    face, a = imports("from .a import A", "pack", modules), imports(typed, "pack", modules)
    assert (face, a) == ({"pack.a"}, {"pack"})
    assert set(find_cycle({"pack": face, "pack.a": a})) == {"pack", "pack.a"}
