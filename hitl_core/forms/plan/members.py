"""Which part of an object's schema is about a property."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from hitl_core.forms.plan.location import INFERRED
from hitl_core.jsonschema import Budget, PatternError, Schema, search


def member_schema(schema: Schema, name: str, budget: Budget) -> Any:
    """The schema of this property: of `properties`, else of all patterns that match its name, else of
    `additionalProperties`. False if it is not allowed, INFERRED if nothing is about it.

    Outside `properties` there is no title: it would name several properties the same. Raises TooMuchWork.
    """
    properties = cast(Schema, schema.get("properties", {}))
    if name in properties:
        return properties[name]
    patterns = cast(Schema, schema.get("patternProperties", {}))
    parts = [_untitled(part) for each, part in patterns.items() if _matches(each, name, budget)]
    if parts:
        return parts[0] if len(parts) == 1 else {"allOf": parts}
    others: object = schema.get("additionalProperties")
    return others if others is False else _untitled(others)


def _matches(pattern: str, name: str, budget: Budget) -> bool:
    with suppress(PatternError):  # then the check of the arguments reports it
        return search(pattern, name, budget)
    return False


def _untitled(part: object) -> object:
    if not isinstance(part, dict):
        return part if part is False else INFERRED
    return {key: value for key, value in cast(Schema, part).items() if key != "title"}
