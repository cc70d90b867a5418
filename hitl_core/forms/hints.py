"""The texts beside a field's input: the hint, and why the field is locked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hitl_core.forms.field import Field, Found, Slot, utf16_length
from hitl_core.forms.inputs import json_slot
from hitl_core.jsonschema import Path, ProtectedPaths, format_name, mask_value
from hitl_core.model import is_number

_PICKER_KINDS = ("date", "time", "datetime")
_MAX_DEFAULT = 80
_HIDDEN = "This value is hidden and stays unchanged."
_HOLDS_HIDDEN = "A part of this is hidden, so it can't be changed here."
_TOO_LONG = "This is longer than {:,} characters, so it can't be changed here."
_ONE_VALUE = "This has only one value."


def finish_slots(
    values: Sequence[Found], protected: ProtectedPaths, max_text: int
) -> tuple[Slot, ...]:
    """The slots with their hints, and locked if the value can't be changed here."""
    return tuple(
        _hide_slot(slot, schema)
        if needs == "hiding"
        else _finish_slot(slot, schema, protected, max_text)
        for slot, schema, needs in values
    )


def _finish_slot(
    slot: Slot, schema: dict[str, Any], protected: ProtectedPaths, max_text: int
) -> Slot:
    value, has_value_input = slot.value, not slot.is_branch_choice
    fixed, hidden = (), list[Path]()
    if has_value_input and protected.has_fixed_parts:
        fixed = protected.find_fixed_below(slot.path, value)
    if has_value_input and protected.has_hidden_parts:
        hidden = protected.find_hidden_below(slot.path, value)
    if hidden:
        slot = json_slot(slot, max_text, masked_value=mask_value(value, hidden))
    field = slot.field
    hint, locked, max_length = make_hint(schema, field), field.locked, field.max_length
    beyond_form = False
    if hidden:
        locked, beyond_form = locked or _HOLDS_HIDDEN, locked is None
    elif locked is None and "const" in schema and slot.reads == "option":
        locked = _ONE_VALUE if field.initial == "0" else None
    elif not slot.values and _is_too_long(field.initial, max_text):
        beyond_form = locked is None
        locked, max_length = locked or _TOO_LONG.format(max_text), None
    field = field._replace(hint=hint, locked=locked, max_length=max_length, beyond_form=beyond_form)
    return slot._replace(field=field, fixed_paths=fixed)


def _hide_slot(slot: Slot, schema: dict[str, Any]) -> Slot:
    """The slot of a value that people must not see."""
    pointer, label = slot.field.pointer, slot.field.label
    hint = description_text(schema)
    return slot._replace(field=Field(pointer, "text", label, hint, locked=_HIDDEN, hidden=True))


def _is_too_long(text: str | None, longest: int) -> bool:
    return text is not None and 2 * len(text) > longest and utf16_length(text) > longest


def make_hint(schema: dict[str, Any], field: Field) -> str | None:
    """The hint from the schema. If `field.hint` is set, it is added as one more limit."""
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
        f"more than {above}" if above is not None and is_number(above) else None,
        f"less than {below}" if below is not None and is_number(below) else None,
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
    """The default as a hint. The input stays empty: without a value, the tool uses its own default."""
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        text = "Yes" if value else "No"
    return f"default {text if len(text) <= _MAX_DEFAULT else text[: _MAX_DEFAULT - 1] + '…'}"
