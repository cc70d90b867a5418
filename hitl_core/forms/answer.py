"""One answer: whether it changes anything, and the value that it is."""

from __future__ import annotations

from typing import Any, assert_never

from hitl_core.forms.choices import chosen_indexes, read_choices
from hitl_core.forms.jsontext import read_integer, read_json, read_number
from hitl_core.forms.lines import read_lines
from hitl_core.forms.slot import ABSENT, Slot, width
from hitl_core.forms.times import read_date, read_moment, read_time, without_seconds


def untouched(slot: Slot, answer: str | None) -> bool:
    """Whether it says what the input showed. Line ends don't count: inputs change them without being asked.
    Nor do the seconds of a moment, which pickers cut off."""
    given, initial = _plain(answer), _plain(slot.field.initial)
    if given == initial:
        return True
    if slot.reads == "option" and not given:
        return slot.field.initial is not None and slot.values[int(slot.field.initial)] is ABSENT
    if slot.reads == "options":
        return set(given.split(",")) == set(initial.split(","))
    return slot.reads == "datetime" and given == without_seconds(initial)


def clears(slot: Slot, answer: str | None) -> bool:
    if not answer:
        return True
    if slot.reads == "option" and answer.isdecimal() and int(answer) < len(slot.values):
        return slot.values[int(answer)] is ABSENT
    return slot.reads == "lines" and not answer.strip()


def value_of(slot: Slot, answer: str, max_text: int) -> Any:
    """Raises ValueError with what is wrong, to read after the field's name."""
    if slot.reads == "option":
        return slot.values[chosen_indexes(slot, answer)[0]]
    if slot.reads == "options":
        return read_choices(slot, answer)
    if width(answer) > max_text:
        raise ValueError(f"must be at most {max_text:,} characters")
    before = None if slot.empty else slot.value
    match slot.reads:
        case "text":
            value = _text(slot, answer)
        case "integer":
            value = read_integer(answer)
        case "number":
            value = read_number(answer)
        case "lines":
            value = [] if _means(slot, answer, "[]") else read_lines(slot, _whole(answer))
        case "date":
            value = read_date(answer)
        case "time":
            value = read_time(answer, before)
        case "datetime":
            value = read_moment(answer, before)
        case "json":
            value = read_json(answer)
        case _:
            assert_never(slot.reads)
    return value


def _text(slot: Slot, answer: str) -> str:
    return "" if _means(slot, answer, '""') else _whole(answer)


def _whole(answer: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in answer):
        raise ValueError("has half a character (a lone surrogate)")
    return answer


def _means(slot: Slot, answer: str, empty: str) -> bool:
    """Whether an empty value was written out, where an empty input means another."""
    return slot.blank in ("leave", "null") and answer.strip() == empty


def _plain(answer: str | None) -> str:
    return (answer or "").replace("\r\n", "\n").replace("\r", "\n")
