"""Rewrites errors in hidden values, or in values that hold one, so that people may read them. The error says
where the problem is, as far as people see the arguments. It has no key, no value and no text of a schema.
Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from hitl_core.jsonschema.errors import ArgError, parse_pointer
from hitl_core.jsonschema.hidden import has_path
from hitl_core.model import to_pointer

_NOT_VALID = "is hidden, and its value is not valid"
_HOLDS_HIDDEN = "is not valid; what is wrong is not shown, because a part of it is hidden"


def cut_at_hidden(pointer: str, hidden: Iterable[str]) -> str:
    """The pointer, cut at the first hidden value on its way: the keys inside are hidden too."""
    outer = (each for each in hidden if pointer.startswith(f"{each}/"))
    return min(outer, key=len, default=pointer)


def cut_at_missing(pointer: str, args: Mapping[str, Any]) -> str:
    """The pointer, cut after the last value that the arguments have: the other names are the schema's."""
    path = parse_pointer(pointer)
    while path and not has_path(args, tuple(path)):
        path.pop()
    return to_pointer(path)


def hide_errors(
    errors: Iterable[ArgError], hidden: Collection[str], args: Mapping[str, Any]
) -> list[ArgError]:
    """The errors of these arguments as people may read them. `hidden`: the pointers of the hidden values,
    also of values that the arguments don't have.
    """
    return list(dict.fromkeys(_hide_error(each, hidden, args) for each in errors))


def _hide_error(error: ArgError, hidden: Collection[str], args: Mapping[str, Any]) -> ArgError:
    pointer = cut_at_hidden(error.pointer, hidden)
    if pointer in hidden:
        missing = not has_path(args, tuple(parse_pointer(pointer)))
        return ArgError(pointer, "is required" if missing else _NOT_VALID)
    if error.quotes and any(each.startswith(f"{pointer}/") for each in hidden):
        return ArgError(pointer, _HOLDS_HIDDEN)
    return error
