"""Answers become arguments, or errors that stand beside their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hitl_core.forms.build import Slot, slots, width
from hitl_core.forms.form import ArgError, FormErrors
from hitl_core.forms.jsontext import read_integer, read_json, read_number
from hitl_core.forms.pointer import path_words
from hitl_core.forms.validate import check_args

_REQUIRED = "is required"
_MAX_SHOWN = 3


def read_answers(
    schema: Mapping[str, Any] | None,
    args: Mapping[str, Any],
    answers: Mapping[str, str | None],
    *,
    max_text: int = 3000,
) -> dict[str, Any]:
    """The arguments after these answers (by pointer) to the form of the same schema and arguments.

    An answer that equals the field's `initial`, or that is not there, keeps the value, or its
    absence, exactly; so does a locked field. None and "" are an empty input: the argument becomes
    null where the schema allows that, else "" for a required text that may be empty, else it goes
    away. Raises FormErrors.
    """
    form = slots(schema, args, max_text)
    unknown = answers.keys() - {slot.field.pointer for slot in form}
    if unknown:
        raise FormErrors({}, ("This form is not up to date; please open it again.",))
    result, wrong, emptied = dict(args), dict[str, str](), set[str]()
    for slot in form:
        where = slot.field.pointer
        answer = answers.get(where, slot.field.initial)
        if slot.field.locked is not None or _plain(answer) == _plain(slot.field.initial):
            continue
        try:
            if answer:
                result = _put(result, slot, _value(slot, answer, max_text))
            else:
                emptied.add(where)
                result = _cleared(result, slot)
        except ValueError as error:
            wrong[where] = str(error)
    found = _placed(form, check_args(schema, result), emptied, wrong)
    if found.fields or found.top:
        raise found
    return result


def _plain(answer: str | None) -> str:
    """With one kind of line end: inputs change them without being asked."""
    return (answer or "").replace("\r\n", "\n").replace("\r", "\n")


def _value(slot: Slot, answer: str, max_text: int) -> Any:
    if width(answer) > max_text:
        raise ValueError(f"must be at most {max_text:,} characters")
    match slot.reads:
        case "text":
            if any("\ud800" <= char <= "\udfff" for char in answer):
                raise ValueError("has half a character (a lone surrogate)")
            return answer
        case "integer":
            return read_integer(answer)
        case "number":
            return read_number(answer)
        case "option":
            if not answer.isdecimal() or int(answer) >= len(slot.values):
                raise ValueError("is not one of the options")
            return slot.values[int(answer)]
        case "json":
            return read_json(answer)


def _put(args: dict[str, Any], slot: Slot, value: Any) -> dict[str, Any]:
    if slot.name is not None:
        return {**args, slot.name: value}
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return cast("dict[str, Any]", value)


def _cleared(args: dict[str, Any], slot: Slot) -> dict[str, Any]:
    if slot.nullable and slot.name is not None:
        return {**args, slot.name: None}
    if slot.may_leave:
        return {name: value for name, value in args.items() if name != slot.name}
    if slot.reads == "text" and slot.name is not None:
        return {**args, slot.name: ""}
    raise ValueError(_REQUIRED)


def _placed(
    form: tuple[Slot, ...], errors: list[ArgError], emptied: set[str], wrong: dict[str, str]
) -> FormErrors:
    """Each error at the nearest field that can be edited; `wrong` holds what could not be read."""
    inputs = {slot.field.pointer for slot in form if slot.field.locked is None}
    fields: dict[str, list[str]] = {where: [message] for where, message in wrong.items()}
    top: list[str] = []
    for error in errors:
        near = _nearest(inputs, error.pointer)
        if near is None:
            words = path_words(error.pointer)
            top.append(f"{words} {error.message}" if words else _sentence(error.message))
        elif near not in wrong:
            inner = path_words(error.pointer[len(near) :])
            message = _REQUIRED if near in emptied else error.message
            fields.setdefault(near, []).append(f"{inner} {message}" if inner else message)
    return FormErrors(
        {where: "; ".join(dict.fromkeys(m[:_MAX_SHOWN])) for where, m in fields.items()},
        tuple(top),
    )


def _nearest(inputs: set[str], pointer: str) -> str | None:
    while pointer and pointer not in inputs:
        pointer = pointer.rpartition("/")[0]
    return pointer if pointer in inputs else None


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]
