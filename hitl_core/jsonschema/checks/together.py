"""Finds the properties that a keyword such as `not` or `oneOf` is about together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from hitl_core.jsonschema.checks.problem import Problems
from hitl_core.jsonschema.errors import Together

#: An error names at most this many properties, and searches at most this many schemas.
MAX_NAMES, MAX_SCHEMAS = 8, 50
_BRANCHES = ("allOf", "anyOf", "oneOf")
#: Keywords that say no more than `required`.
_ONLY_REQUIRED = {"required", "type", "title", "description"}


def properties_together(schemas: Sequence[Any]) -> Together | None:
    """The properties that these schemas name, which may not all be met; None if they name none."""
    known = [cast("dict[str, Any]", one) for one in schemas if isinstance(one, dict)]
    names = _first(name for schema in known for name in _names_in(schema))
    if not names:
        return None
    only_required = len(names) > 1 and all(_ONLY_REQUIRED.issuperset(one) for one in known)
    return Together(names, "all_set" if only_required else "values")


def branches_together(branches: Iterable[Problems]) -> Together | None:
    """The properties that make all of these branches fail; None if a problem is about the whole value."""
    problems = [each for branch in branches for each in branch]
    if not problems or not all(each.path and isinstance(each.path[0], str) for each in problems):
        return None
    names = _first(str(each.path[0]) for each in problems)
    one_each = all(each.keyword == "required" and len(each.path) == 1 for each in problems)
    if one_each and all(len(branch) == 1 for branch in branches) and len(names) > 1:
        return Together(names, "none_set")
    return Together(names, "values")


def _names_in(schema: dict[str, Any]) -> Iterator[str]:
    """The properties that a schema names, also in its branches."""
    stack, left = [schema], MAX_SCHEMAS
    while stack and left:
        left -= 1
        one = stack.pop()
        for key in ("required", "properties"):
            if isinstance(names := one.get(key), list | dict):
                yield from (name for name in cast("list[Any]", names) if isinstance(name, str))
        for key in _BRANCHES:
            if isinstance(inner := one.get(key), list):
                stack += [
                    cast("dict[str, Any]", each)
                    for each in cast("list[Any]", inner)
                    if isinstance(each, dict)
                ]


def _first(names: Iterable[str]) -> tuple[str, ...]:
    known: dict[str, None] = {}
    for name in names:
        known[name] = None
        if len(known) == MAX_NAMES:
            break
    return tuple(known)
