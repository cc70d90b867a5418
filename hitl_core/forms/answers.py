"""Reads the answers of a form. The result is new arguments, or errors for the fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, assert_never, cast

from hitl_core.forms.edit_args import is_kept, remove_value, set_value
from hitl_core.forms.error_places import REQUIRED, attach_errors
from hitl_core.forms.field import ABSENT, FormErrors, Slot, utf16_length
from hitl_core.forms.text_values import (
    drop_seconds,
    read_date,
    read_datetime,
    read_integer,
    read_json,
    read_lines,
    read_number,
    read_time,
)
from hitl_core.jsonschema import (
    check_args,
    find_hidden,
    format_path,
    hide_errors,
    to_pointer,
    value_at,
)


def read_slots(
    schema: Mapping[str, Any] | None,
    slots: tuple[Slot, ...],
    start: object,
    answers: Mapping[str, str | None],
    max_text: int,
    redact: Collection[str],
    *,
    fills_blanks: bool = False,
) -> dict[str, Any]:
    """The new arguments: `start` (the arguments, switched to the branches that the answers choose) with the
    answers. Raises FormErrors, see `Form.read`. The errors say nothing about hidden values: those of
    `redact`, and those that the schema hides.
    """
    if _is_stale(slots, answers):
        raise FormErrors({}, ("This form is not up to date. Open it again.",))
    if not isinstance(start, dict):
        raise FormErrors({}, ("These arguments must be a JSON object. Choose another option.",))
    result, wrong, emptied = cast("dict[str, Any]", start), dict[str, str](), set[str]()
    for slot in slots:
        where = slot.field.pointer
        answer = answers.get(where, slot.field.initial)
        if slot.field.locked is not None or is_unchanged(slot, answer):
            continue
        try:
            if not is_cleared(slot, answer):
                result = _apply_value(result, slot, parse_answer(slot, answer or "", max_text))
            else:
                emptied.add(where)
                result = _clear_value(result, slot)
        except ValueError as error:
            wrong[where] = str(error)
    problems = check_args(schema, result)
    while problems and fills_blanks:
        filled = _fill_blanks(result, slots, {error.pointer for error in problems})
        if filled is result:
            break
        result, problems = filled, check_args(schema, filled)
    if problems:
        hidden = {*redact, *map(to_pointer, find_hidden([schema], result))}
        problems = hide_errors(problems, hidden, result)
    if problems or wrong:
        raise attach_errors(slots, problems, emptied, wrong)
    return result


def _is_stale(slots: tuple[Slot, ...], answers: Mapping[str, str | None]) -> bool:
    """Whether there are answers without a field. Answers for fields of another branch don't count."""
    known = {slot.field.pointer for slot in slots}
    prefixes = tuple(f"{slot.field.pointer[:-1]}/" for slot in slots if slot.is_branch_choice)
    return any(not f"{where}/".startswith(prefixes) for where in answers.keys() - known)


def _apply_value(args: dict[str, Any], slot: Slot, value: Any) -> dict[str, Any]:
    if slot.is_branch_choice:
        return args  # `plan_form` has switched the branch
    for path in slot.fixed_paths:
        if not is_kept(slot.value, value, path):
            raise ValueError(f"must keep {format_path(to_pointer(path))} unchanged")
    if slot.path:
        return set_value(args, slot.path, value)
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return cast("dict[str, Any]", value)


def _clear_value(args: dict[str, Any], slot: Slot) -> dict[str, Any]:
    if slot.field.required:
        raise ValueError(REQUIRED)
    if slot.is_branch_choice and slot.on_clear in ("leave", "null"):
        return args  # `plan_form` has cleared it
    if slot.on_clear == "null":
        return set_value(args, slot.path, None)
    if slot.on_clear == "leave":
        return remove_value(args, slot.path, slot.parent_on_clear)
    if slot.on_clear == "empty" and slot.reads == "text":
        return set_value(args, slot.path, "")
    if slot.on_clear == "empty" and slot.reads in ("lines", "options"):
        return set_value(args, slot.path, [])
    raise ValueError(REQUIRED)


def _fill_blanks(
    args: dict[str, Any], slots: tuple[Slot, ...], missing: Collection[str]
) -> dict[str, Any]:
    """The arguments with each missing value that may be null or empty, and each missing object around fields
    (null or {}). The same object if nothing is missing.
    """
    for slot in slots:
        for length in range(1, len(slot.path)):
            outer, on_clear = slot.path[:length], slot.parent_on_clear[length]
            is_missing = to_pointer(outer) in missing and value_at(args, outer, ABSENT) is ABSENT
            if is_missing and on_clear != "leave":
                args = set_value(args, outer, None if on_clear == "null" else {})
        where = slot.field.pointer.removesuffix("~")
        is_missing = where in missing and value_at(args, slot.path, ABSENT) is ABSENT
        if is_missing and slot.field.locked is None and not slot.field.required:
            match slot.on_clear:
                case "null":
                    args = set_value(args, slot.path, None)
                case "empty":
                    args = set_value(args, slot.path, "" if slot.reads == "text" else [])
                case "leave" | "refuse":
                    pass  # it is about other values, or can't be empty
                case _:
                    assert_never(slot.on_clear)
    return args


def is_unchanged(slot: Slot, answer: str | None) -> bool:
    """Whether the answer is what the input showed. Line ends are ignored, because inputs change them, and so
    are the seconds of a date and time, because pickers remove them.
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


def parse_answers(
    slots: Iterable[Slot], answers: Mapping[str, str | None], max_text: int
) -> dict[str, Any]:
    """The new values by pointer. Empty and unreadable answers are left out."""
    values: dict[str, Any] = {}
    for slot in slots:
        if slot.field.locked is None and (answer := answers.get(slot.field.pointer)):
            with suppress(ValueError):
                values[slot.field.pointer] = parse_answer(slot, answer, max_text)
    return values


def parse_answer(slot: Slot, answer: str, max_text: int) -> Any:
    """The new value. Raises ValueError with a text that follows the field's name."""
    if slot.reads == "option":
        return slot.values[_parse_indexes(slot, answer)[0]]
    if slot.reads == "options":
        return _read_choices(slot, answer)
    if 2 * len(answer) > max_text and utf16_length(answer) > max_text:
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
    """Whether the person typed an empty value, `""` or `[]`. An empty input means null or absent there."""
    return slot.on_clear in ("leave", "null") and answer.strip() == empty


def _normalize_newlines(answer: str | None) -> str:
    return (answer or "").replace("\r\n", "\n").replace("\r", "\n")


def _parse_indexes(slot: Slot, answer: str) -> list[int]:
    """The chosen indexes in the order of the options. Raises ValueError for an unknown option."""
    at = sorted({int(n) for n in answer.split(",") if n.isascii() and n.isdecimal()})
    if len(at) != len(answer.split(",")) or at[-1] >= len(slot.values):
        raise ValueError("is not one of the options")
    return at


def _read_choices(slot: Slot, answer: str) -> list[Any]:
    """The chosen values. Earlier choices keep their order, new ones follow."""
    at = _parse_indexes(slot, answer)
    before = [int(n) for n in (slot.field.initial or "").split(",") if n]
    held = [] if slot.is_empty else cast("list[Any]", slot.value)
    kept = [item for n, item in zip(before, held, strict=True) if n in at]
    return kept + [slot.values[n] for n in at if n not in before]
