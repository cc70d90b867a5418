"""Arguments with one value put in or taken away. What is given is never changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from hitl_core.forms.pointer import pointer
from hitl_core.forms.slot import ABSENT, Blank

Json = dict[str, Any]


def put(args: Json, names: tuple[str, ...], value: Any) -> Json:
    """With the value there; the objects on the way are made where they are missing."""
    first, *rest = names
    if not rest:
        return {**args, first: value}
    inner = args.get(first)
    held = cast(Json, inner) if isinstance(inner, dict) else {}
    return {**args, first: put(held, tuple(rest), value)}


def taken(args: Json, names: tuple[str, ...], above: tuple[Blank, ...]) -> Json:
    """Without the value there. An object that this leaves empty goes the way that `above` says."""
    first, *rest = names
    if first not in args:
        return args
    if not rest:
        return {name: value for name, value in args.items() if name != first}
    inner = args[first]
    if not isinstance(inner, dict):
        return args
    left = taken(cast(Json, inner), tuple(rest), above[1:])
    if left or above[1] not in ("leave", "null"):
        return {**args, first: left}
    return put(args, (first,), None) if above[1] == "null" else taken(args, (first,), above)


def removed(before: Json, after: Json) -> tuple[str, ...]:
    """Pointers to what an edit takes away: values that are gone, and those that held something and are null
    or empty now. The outermost only, in the order of `before`.
    """
    return tuple(_within(before, after, ""))


def _removed(before: Any, after: Any, where: str) -> Iterator[str]:
    if after is ABSENT or (_is_empty(after) and not _is_empty(before)):
        yield where
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _within(cast(Json, before), cast(Json, after), where)
    elif isinstance(before, list) and isinstance(after, list):
        pairs = zip(cast(list[Any], before), cast(list[Any], after), strict=False)
        for number, (old, new) in enumerate(pairs):
            yield from _removed(old, new, f"{where}/{number}")


def _within(before: Json, after: Json, where: str) -> Iterator[str]:
    for name, value in before.items():
        yield from _removed(value, after.get(name, ABSENT), where + pointer([name]))


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def at(value: Any, path: tuple[str, ...]) -> Any:
    """ABSENT where there is nothing."""
    for name in path:
        if isinstance(value, list):
            items = cast("list[Any]", value)
            if not (name.isascii() and name.isdecimal() and int(name) < len(items)):
                return ABSENT
            value = items[int(name)]
        elif isinstance(value, dict) and name in value:
            value = cast(Json, value)[name]
        else:
            return ABSENT
    return value
