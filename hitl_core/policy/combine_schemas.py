"""Two schemas → one that requires both."""

from __future__ import annotations

from typing import Any, cast

Schema = dict[str, Any]
_REFS = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
#: A reference to nothing. So every check refuses a schema that has it.
_DEAD_REF = "#/a reference of one of two schemas"


def combine_schemas(one: Schema | None, other: Schema | None) -> Schema | None:
    """A schema that requires both. If one of them has a reference, the result can't be checked, because the
    reference would lead to another target.
    """
    if one is None or other is None or one == other:
        return one or other
    both: Schema = {"type": "object", "allOf": [one, other]}
    return {**both, "$ref": _DEAD_REF} if has_refs(both) else both


def has_refs(schema: Schema) -> bool:
    waiting: list[object] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            held = cast(Schema, part)
            if not _REFS.isdisjoint(held):
                return True
            waiting.extend(held.values())
        elif isinstance(part, list):
            waiting.extend(cast("list[object]", part))
    return False
