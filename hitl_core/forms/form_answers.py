"""Reads the answers of a form: the result is new arguments, or errors for the fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from hitl_core.forms.edit_args import remove_value, set_value, value_at
from hitl_core.forms.field import FormErrors
from hitl_core.forms.fields import is_cleared, is_unchanged, parse_answer
from hitl_core.forms.slot import ABSENT, Slot
from hitl_core.jsonschema import ArgError, check_args, format_path, to_pointer

_REQUIRED = "is required"
_MAX_MESSAGES = 3  # for each field


def read_slots(
    schema: Mapping[str, Any] | None,
    slots: tuple[Slot, ...],
    start: dict[str, Any],
    answers: Mapping[str, str | None],
    max_text: int,
) -> dict[str, Any]:
    """The new arguments: `start`, the arguments with the branches that the answers choose, and the answers.
    Raises FormErrors: see `Form.read`.
    """
    if _is_stale(slots, answers):
        raise FormErrors({}, ("This form is not up to date. Open it again.",))
    result, wrong, emptied = start, dict[str, str](), set[str]()
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
    errors = _attach_errors(slots, check_args(schema, result), emptied, wrong)
    if errors.fields or errors.top:
        raise errors
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
        if _to_json(value_at(slot.value, path)) != _to_json(value_at(value, path)):
            raise ValueError(f"must keep {format_path(to_pointer(path))} unchanged")
    if slot.path:
        return set_value(args, slot.path, value)
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return cast("dict[str, Any]", value)


def _to_json(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)


def _clear_value(args: dict[str, Any], slot: Slot) -> dict[str, Any]:
    if slot.field.required:
        raise ValueError(_REQUIRED)
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
    raise ValueError(_REQUIRED)


def _attach_errors(
    slots: tuple[Slot, ...], errors: list[ArgError], emptied: set[str], wrong: dict[str, str]
) -> FormErrors:
    """Put each error at the nearest field, if it can be edited. `wrong` has the answers that could not be
    read.
    """
    fields = {slot.field.pointer: slot for slot in slots}
    messages_by_field: dict[str, list[str]] = {where: [message] for where, message in wrong.items()}
    top: list[str] = []
    for error in errors:
        nearest = _nearest(fields, error.pointer)
        if nearest is None or nearest.field.locked is not None:
            words = format_path(error.pointer)
            top.append(f"{words} {error.message}" if words else _sentence(error.message))
            continue
        where = nearest.field.pointer
        if where not in wrong:
            inner = _inner_path(nearest, error.pointer)
            message = _REQUIRED if where in emptied else error.message
            messages_by_field.setdefault(where, []).append(
                f"{inner} {message}" if inner else message
            )
    return FormErrors(
        {
            where: "; ".join(dict.fromkeys(m[:_MAX_MESSAGES]))
            for where, m in messages_by_field.items()
        },
        tuple(dict.fromkeys(top)),
    )


def _nearest(fields: Mapping[str, Slot], pointer: str) -> Slot | None:
    while True:
        near = fields.get(pointer) or fields.get(f"{pointer}~")
        if near is not None or not pointer:
            return near
        pointer = pointer.rpartition("/")[0]


def _inner_path(slot: Slot, pointer: str) -> str:
    inner = pointer[len(slot.field.pointer.removesuffix("~")) :]
    if slot.reads in ("lines", "options") and inner[1:].isdecimal():
        return f"number {int(inner[1:]) + 1}"
    return format_path(inner)


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
