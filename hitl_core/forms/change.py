"""Arguments with one value put in or taken away. What is given is never changed."""

from __future__ import annotations

from typing import Any, cast

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
