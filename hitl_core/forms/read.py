"""Answers become arguments, or errors that stand beside their fields."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, cast

from hitl_core.forms.answer import clears, untouched, value_of
from hitl_core.forms.build import plan
from hitl_core.forms.change import at, put, taken
from hitl_core.forms.form import ArgError, FormErrors
from hitl_core.forms.pointer import path_words, pointer
from hitl_core.forms.scalars import Room
from hitl_core.forms.slot import ABSENT, Slot
from hitl_core.forms.validate import check_args

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
    slots, start = plan(schema, args, answers, Room(max_text, max_options), redact)
    if _stale(slots, answers):
        raise FormErrors({}, ("This form is not up to date; please open it again.",))
    result, wrong, emptied = start, dict[str, str](), set[str]()
    for slot in slots:
        where = slot.field.pointer
        answer = answers.get(where, slot.field.initial)
        if slot.field.locked is not None or untouched(slot, answer):
            continue
        try:
            if not clears(slot, answer):
                result = _with(result, slot, value_of(slot, answer or "", max_text))
            else:
                emptied.add(where)
                result = _cleared(result, slot)
        except ValueError as error:
            wrong[where] = str(error)
    found = _placed(slots, check_args(schema, result), emptied, wrong)
    if found.fields or found.top:
        raise found
    return result


def _stale(slots: tuple[Slot, ...], answers: Mapping[str, str | None]) -> bool:
    """Whether there are answers to what is no field, nor can be one of another branch."""
    known = {slot.field.pointer for slot in slots}
    branched = tuple(f"{slot.field.pointer[:-1]}/" for slot in slots if slot.branch)
    return any(not f"{where}/".startswith(branched) for where in answers.keys() - known)


def _with(args: dict[str, Any], slot: Slot, value: Any) -> dict[str, Any]:
    if slot.branch:
        return args  # has been done
    for path in slot.kept:
        if _bytes(at(slot.value, path)) != _bytes(at(value, path)):
            raise ValueError(f"must keep {path_words(pointer(path))} as it is")
    if slot.names:
        return put(args, slot.names, value)
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return cast("dict[str, Any]", value)


def _bytes(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, sort_keys=True)


def _cleared(args: dict[str, Any], slot: Slot) -> dict[str, Any]:
    if slot.field.required:
        raise ValueError(_REQUIRED)
    if slot.branch and slot.blank in ("leave", "null"):
        return args  # has been done
    if slot.blank == "null":
        return put(args, slot.names, None)
    if slot.blank == "leave":
        return taken(args, slot.names, slot.above)
    if slot.blank == "empty" and slot.reads == "text":
        return put(args, slot.names, "")
    if slot.blank == "empty" and slot.reads in ("lines", "options"):
        return put(args, slot.names, [])
    raise ValueError(_REQUIRED)


def _placed(
    slots: tuple[Slot, ...], errors: list[ArgError], emptied: set[str], wrong: dict[str, str]
) -> FormErrors:
    """Each error at the nearest field, if it can be edited; `wrong` holds what could not be read."""
    fields = {slot.field.pointer: slot for slot in slots}
    told: dict[str, list[str]] = {where: [message] for where, message in wrong.items()}
    top: list[str] = []
    for error in errors:
        near = _nearest(fields, error.pointer)
        if near is None or near.field.locked is not None:
            words = path_words(error.pointer)
            top.append(f"{words} {error.message}" if words else _sentence(error.message))
            continue
        where = near.field.pointer
        if where not in wrong:
            inner = _inner_words(near, error.pointer)
            message = _REQUIRED if where in emptied else error.message
            told.setdefault(where, []).append(f"{inner} {message}" if inner else message)
    return FormErrors(
        {where: "; ".join(dict.fromkeys(m[:_MAX_SHOWN])) for where, m in told.items()},
        tuple(dict.fromkeys(top)),
    )


def _nearest(fields: Mapping[str, Slot], pointer: str) -> Slot | None:
    while True:
        near = fields.get(pointer) or fields.get(f"{pointer}~")
        if near is not None or not pointer:
            return near
        pointer = pointer.rpartition("/")[0]


def _inner_words(slot: Slot, pointer: str) -> str:
    inner = pointer[len(slot.field.pointer.removesuffix("~")) :]
    if slot.reads in ("lines", "options") and inner[1:].isdecimal():
        return f"number {int(inner[1:]) + 1}"
    return path_words(inner)


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
