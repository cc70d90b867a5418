"""Answers become arguments, or errors that stand beside their fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, cast

from hitl_core.forms.edit_args import remove_value, set_value, value_at
from hitl_core.forms.fields.answer import is_cleared, is_unchanged, parse_answer
from hitl_core.forms.fields.input_fields import InputLimits
from hitl_core.forms.form import FormErrors
from hitl_core.forms.plan.build import plan_form
from hitl_core.forms.slot import ABSENT, Slot
from hitl_core.jsonschema.errors import ArgError
from hitl_core.jsonschema.pointer import format_path, to_pointer
from hitl_core.jsonschema.validate import check_args

_REQUIRED = "is required"
_MAX_SHOWN = 3


def read_answers(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    answers: Mapping[str, str | None],
    *,
    max_text: int = 3000,
    max_options: int = 10_000,
    redact: Collection[str] = (),
) -> dict[str, Any]:
    """The arguments after these answers (by pointer) to the form that `make_form` makes of the same.

    An answer that says what the input of the arguments showed, or that is not there, keeps the value, or
    its absence, exactly; so does a locked field. None and "" are an empty input. A field that is `required`
    refuses it, as some clients send it for what nobody touched; of any other it makes the value:

    - null, where the schema allows that;
    - else absent, where it may be: the tool's default then holds, as the hint says. An object that may be
      absent goes with the last of its fields;
    - else "" or [], for a text or a list.

    `removed` tells what such an edit takes away: it is for the caller to ask whether that is meant.

    In a text that would be null or absent, `""` stands for the empty text; in such lines, `[]` for the empty
    list. Choosing another branch keeps what has a place there, and drops what only the old branch knows;
    answers to fields of a branch that is not chosen don't count. Raises FormErrors.
    """
    slots, start = plan_form(schema, args, answers, InputLimits(max_text, max_options), redact)
    if _is_stale(slots, answers):
        raise FormErrors({}, ("This form is not up to date; please open it again.",))
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
    """Whether there are answers to what is no field, nor can be one of another branch."""
    known = {slot.field.pointer for slot in slots}
    branched = tuple(f"{slot.field.pointer[:-1]}/" for slot in slots if slot.is_branch_choice)
    return any(not f"{where}/".startswith(branched) for where in answers.keys() - known)


def _apply_value(args: dict[str, Any], slot: Slot, value: Any) -> dict[str, Any]:
    if slot.is_branch_choice:
        return args  # has been done
    for path in slot.fixed_paths:
        if _to_json(value_at(slot.value, path)) != _to_json(value_at(value, path)):
            raise ValueError(f"must keep {format_path(to_pointer(path))} as it is")
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
        return args  # has been done
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
    """Each error at the nearest field, if it can be edited; `wrong` holds what could not be read."""
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
        {where: "; ".join(dict.fromkeys(m[:_MAX_SHOWN])) for where, m in messages_by_field.items()},
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
