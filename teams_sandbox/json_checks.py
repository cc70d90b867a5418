"""Small checks of JSON values that nobody has checked yet."""

from __future__ import annotations

from typing import Any, TypeGuard

Json = dict[str, Any]


def is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def object_in(value: object, key: str) -> Json:
    """The object at this key; {} if there is none."""
    inner = value.get(key) if is_object(value) else None
    return inner if is_object(inner) else {}
