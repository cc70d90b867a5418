"""A field with what somebody entered in it, as a form that is drawn again shows it."""

from __future__ import annotations

from decimal import Decimal

from hitl_core.forms.answer import value_of
from hitl_core.forms.changed import changed
from hitl_core.forms.form import Field
from hitl_core.forms.formats import conforms
from hitl_core.forms.slot import ABSENT, Slot, width

_PICKED = ("option", "options", "date", "time", "datetime")


def answered(slot: Slot, answer: str | None, max_text: int) -> Field:
    """What no such input can show is left out, if it was picked, or shown as text, if it was typed."""
    field = slot.field
    if field.locked is not None:
        return field
    if not answer:
        empty = str(slot.values.index(ABSENT)) if ABSENT in slot.values else None
        return changed(field, initial=empty, min_length=None, min_items=None)
    try:
        value_of(slot, answer, max_text)
    except ValueError:
        return field if slot.reads in _PICKED else _typed(_as_text(field), answer)
    match field.kind:
        case "integer" | "number":
            return _number(field, answer.strip())
        case "email" | "uri" if not conforms(field.kind, answer):
            return _typed(_as_text(field), answer)
        case "choices":
            return _chosen(field, answer)
        case _ if slot.reads in _PICKED:
            return changed(field, initial=answer)
        case _:
            return _typed(field, answer)


def _as_text(field: Field) -> Field:
    if field.kind in ("long_text", "lines", "json"):
        return field
    return changed(field, kind="text", minimum=None, maximum=None)


def _typed(field: Field, answer: str) -> Field:
    least, most, length = field.min_length, field.max_length, width(answer)
    return changed(
        field,
        initial=answer,
        min_length=least if least and length >= least else None,
        max_length=most if most and length <= most else None,
    )


def _number(field: Field, answer: str) -> Field:
    if "e" in answer.lower():
        return _typed(_as_text(field), answer)
    least, most, number = field.minimum, field.maximum, Decimal(answer)
    return changed(
        field,
        initial=answer,
        minimum=least if least and number >= Decimal(least) else None,
        maximum=most if most and number <= Decimal(most) else None,
    )


def _chosen(field: Field, answer: str) -> Field:
    least, most, count = field.min_items, field.max_items, len(answer.split(","))
    return changed(
        field,
        initial=answer,
        min_items=least if least and count >= least else None,
        max_items=most if most and count <= most else None,
    )
