"""Fields that show what people entered so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal

from hitl_core.forms.field import ABSENT, Field, Slot, utf16_length
from hitl_core.jsonschema import is_valid_format

_PICKER_FORMATS = ("option", "options", "date", "time", "datetime")


def prefill_fields(
    slots: Iterable[Slot], answers: Mapping[str, str | None], values: Collection[str]
) -> tuple[Field, ...]:
    """The fields with these answers, by pointer. `values`: the pointers of the answers that can be read."""
    return tuple(
        _prefill_field(slot, answers[slot.field.pointer], slot.field.pointer in values)
        if slot.field.pointer in answers
        else slot.field
        for slot in slots
    )


def _prefill_field(slot: Slot, answer: str | None, can_read: bool) -> Field:
    """If the input can't show the answer, a picked answer is left out, and a typed answer is shown in a text
    input.
    """
    field = slot.field
    if field.locked is not None:
        return field
    if not answer:
        empty = str(slot.values.index(ABSENT)) if ABSENT in slot.values else None
        return field._replace(initial=empty, min_length=None, min_items=None)
    if not can_read:
        return field if slot.reads in _PICKER_FORMATS else _prefill_text(_as_text(field), answer)
    match field.kind:
        case "integer" | "number":
            return _prefill_number(field, answer.strip())
        case "email" | "uri" if not is_valid_format(field.kind, answer):
            return _prefill_text(_as_text(field), answer)
        case "choices":
            return _prefill_choices(field, answer)
        case _ if slot.reads in _PICKER_FORMATS:
            return field._replace(initial=answer)
        case _:
            return _prefill_text(field, answer)


def _as_text(field: Field) -> Field:
    if field.kind in ("long_text", "lines", "json"):
        return field
    return field._replace(kind="text", minimum=None, maximum=None)


def _prefill_text(field: Field, answer: str) -> Field:
    least, most, length = field.min_length, field.max_length, utf16_length(answer)
    return field._replace(
        initial=answer,
        min_length=least if least and length >= least else None,
        max_length=most if most and length <= most else None,
    )


def _prefill_number(field: Field, answer: str) -> Field:
    if "e" in answer.lower():
        return _prefill_text(_as_text(field), answer)
    least, most, number = field.minimum, field.maximum, Decimal(answer)
    return field._replace(
        initial=answer,
        minimum=least if least and number >= Decimal(least) else None,
        maximum=most if most and number <= Decimal(most) else None,
    )


def _prefill_choices(field: Field, answer: str) -> Field:
    least, most, count = field.min_items, field.max_items, len(answer.split(","))
    return field._replace(
        initial=answer,
        min_items=least if least and count >= least else None,
        max_items=most if most and count <= most else None,
    )
