"""Reads one answer: whether it changes the value, and the new value."""

from __future__ import annotations

from typing import Any, assert_never

from hitl_core.forms.fields.choices import parse_indexes, read_choices
from hitl_core.forms.fields.json_text import read_integer, read_json, read_number
from hitl_core.forms.fields.lines import read_lines
from hitl_core.forms.fields.times import drop_seconds, read_date, read_datetime, read_time
from hitl_core.forms.slot import ABSENT, Slot, utf16_length


def is_unchanged(slot: Slot, answer: str | None) -> bool:
    """Whether the answer is what the input showed. Line ends don't count, because inputs change them. The
    seconds of a date and time don't count, because pickers remove them.
    """
    answer_text, initial = _normalize_newlines(answer), _normalize_newlines(slot.field.initial)
    if answer_text == initial:
        return True
    if slot.reads == "option" and not answer_text:
        return slot.field.initial is not None and slot.values[int(slot.field.initial)] is ABSENT
    if slot.reads == "options":
        return set(answer_text.split(",")) == set(initial.split(","))
    return slot.reads == "datetime" and answer_text == drop_seconds(initial)


def is_cleared(slot: Slot, answer: str | None) -> bool:
    if not answer:
        return True
    if slot.reads == "option" and answer.isdecimal() and int(answer) < len(slot.values):
        return slot.values[int(answer)] is ABSENT
    return slot.reads == "lines" and not answer.strip()


def parse_answer(slot: Slot, answer: str, max_text: int) -> Any:
    """The new value. Raises ValueError; its text follows the field's name."""
    if slot.reads == "option":
        return slot.values[parse_indexes(slot, answer)[0]]
    if slot.reads == "options":
        return read_choices(slot, answer)
    if utf16_length(answer) > max_text:
        raise ValueError(f"must be at most {max_text:,} characters")
    before = None if slot.is_empty else slot.value
    match slot.reads:
        case "text":
            value = _text(slot, answer)
        case "integer":
            value = read_integer(answer)
        case "number":
            value = read_number(answer)
        case "lines":
            value = (
                []
                if _is_empty_literal(slot, answer, "[]")
                else read_lines(slot, _check_text(answer))
            )
        case "date":
            value = read_date(answer)
        case "time":
            value = read_time(answer, before)
        case "datetime":
            value = read_datetime(answer, before)
        case "json":
            value = read_json(answer)
        case _:
            assert_never(slot.reads)
    return value


def _text(slot: Slot, answer: str) -> str:
    return "" if _is_empty_literal(slot, answer, '""') else _check_text(answer)


def _check_text(answer: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in answer):
        raise ValueError("has half a character (half a surrogate pair)")
    return answer


def _is_empty_literal(slot: Slot, answer: str, empty: str) -> bool:
    """Whether the person typed an empty value, where an empty input would mean null or absent."""
    return slot.on_clear in ("leave", "null") and answer.strip() == empty


def _normalize_newlines(answer: str | None) -> str:
    return (answer or "").replace("\r\n", "\n").replace("\r", "\n")
