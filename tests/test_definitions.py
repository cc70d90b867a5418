"""An editor's "go to definition" finds the method itself: no object copies the methods of another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(
    file
    for top in ("hitl_core", "bot", "slack_sandbox", "teams_sandbox")
    for file in (ROOT / top).rglob("*.py")
)


def methods(tree: ast.AST) -> Iterator[str]:
    """The names of all methods; properties are values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    marks = {ast.unparse(mark) for mark in part.decorator_list}
                    if "property" not in marks:
                        yield part.name


def taken_over(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Assignments such as `self.load = store.load`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=False))
        for left, right in pairs:
            if (
                isinstance(left, ast.Attribute)
                and isinstance(right, ast.Attribute)
                and ast.unparse(left.value) == "self"
                and left.attr == right.attr
                and left.attr in names
            ):
                yield f"{ast.unparse(left)} = {ast.unparse(right)}"


def test_no_bound_method_is_an_attribute():
    """House §2: given all files, then no object has the methods of another one as attributes."""
    trees = {file: ast.parse(file.read_text()) for file in FILES}
    names = {name for tree in trees.values() for name in methods(tree)}

    found = [
        f"{file.relative_to(ROOT)}: {one}"
        for file, tree in trees.items()
        for one in taken_over(tree, names)
    ]

    assert not found, "\n".join(found)


def test_a_method_that_is_taken_over_is_found():
    text = "class A:\n    def __init__(self, b):\n        self.x, self.load = b.x, b.load\n"

    assert list(taken_over(ast.parse(text), {"load"})) == ["self.load = b.load"]
