"""The hint of a field: its description, and its limits in words."""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from hitl_core.forms.field import Field
from hitl_core.jsonschema import format_name

_PICKER_KINDS = ("date", "time", "datetime")
_MAX_DEFAULT = 80


def make_hint(schema: dict[str, Any], field: Field) -> str | None:
    """The hint from the schema. If `field.hint` is set, it is one more limit."""
    text = description_text(schema)
    limits = [
        _range_limit(schema),
        _length_limit(schema),
        _items_limit(schema),
        *_other_limits(schema, field),
    ]
    sentence = ", ".join(words for words in limits if words)
    if text is None:
        return sentence[:1].upper() + sentence[1:] or None
    if not sentence:
        return text
    end = "" if text[-1] in ".!?:" else "."
    return f"{text}{end} {sentence[:1].upper()}{sentence[1:]}"


def description_text(schema: dict[str, Any]) -> str | None:
    description = schema.get("description")
    return description.strip() or None if isinstance(description, str) else None


def _range_limit(schema: dict[str, Any]) -> str | None:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{least} to {most}"
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    words = [
        f"at least {least}" if least is not None else None,
        f"at most {most}" if most is not None else None,
        f"more than {above}" if is_number(above) else None,
        f"less than {below}" if is_number(below) else None,
    ]
    return ", ".join(word for word in words if word) or None


def _length_limit(schema: dict[str, Any]) -> str | None:
    return _count_limit(schema.get("minLength") or 0, schema.get("maxLength"), "character")


def _items_limit(schema: dict[str, Any]) -> str | None:
    return _count_limit(schema.get("minItems") or 0, schema.get("maxItems"), "item")


def _count_limit(least: int, most: int | None, noun: str) -> str | None:
    if least == most:
        return f"exactly {least} {noun}" + "s" * (least != 1)
    if least > 1 and most is not None:
        return f"{least} to {most} {noun}s"
    if most is not None:
        return f"at most {most} {noun}" + "s" * (most != 1)
    return f"at least {least} {noun}s" if least > 1 else None


def _other_limits(schema: dict[str, Any], field: Field) -> list[str | None]:
    step, pattern = schema.get("multipleOf"), schema.get("pattern")
    return [
        "one per line" if field.kind == "lines" else None,
        f"a multiple of {step}" if step is not None else None,
        format_name(schema["format"]) if _has_shown_format(schema, field) else None,
        f"pattern {pattern}" if pattern is not None else None,
        field.hint,
        _default_text(schema.get("default")),
    ]


def _has_shown_format(schema: dict[str, Any], field: Field) -> bool:
    return "format" in schema and field.kind not in _PICKER_KINDS


def _default_text(value: Any) -> str | None:
    """The default is shown but not filled in: if nobody sets a value, the tool uses its own default."""
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        text = "Yes" if value else "No"
    return f"default {text if len(text) <= _MAX_DEFAULT else text[: _MAX_DEFAULT - 1] + '…'}"


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_numbers(items: list[Any]) -> bool:
    """One fast test, because a list may have a hundred thousand items."""
    return {*map(type, items)} <= {int, float}
