"""Finds the fields that an error of the arguments is about, and writes the error with their labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from hitl_core.forms.field import FormErrors, JointError, Slot
from hitl_core.jsonschema import ArgError, Together, child_pointers, format_path
from hitl_core.sentences import join_names

REQUIRED = "is required"
_MAX_MESSAGES = 3  # for each field


def attach_errors(
    slots: tuple[Slot, ...],
    errors: list[ArgError],
    emptied: Collection[str],
    wrong: Mapping[str, str],
) -> FormErrors:
    """Assign each error to the fields that it is about: those that it names, else the nearest field. `wrong`
    has the answers that could not be read, `emptied` the fields without an answer.
    """
    fields = {slot.field.pointer: slot for slot in slots}
    by_field: dict[str, list[str]] = {where: [message] for where, message in wrong.items()}
    joint: list[JointError] = []
    top: list[str] = []
    for error in errors:
        nearest = _nearest(fields, error.pointer)
        if (found := _joint_error(fields, error)) is not None:
            joint.append(found) if found.pointers else top.append(found.sentence)
        elif nearest is None:
            words = format_path(error.pointer)
            top.append(f"{words} {error.message}" if words else _sentence(error.message))
        elif (where := nearest.field.pointer) not in wrong:
            message = REQUIRED if where in emptied else _message(fields, error)
            inner = _inner_path(nearest, error.pointer)
            by_field.setdefault(where, []).append(f"{inner} {message}" if inner else message)
    return FormErrors(
        {where: "; ".join(dict.fromkeys(m[:_MAX_MESSAGES])) for where, m in by_field.items()},
        tuple(dict.fromkeys(top)),
        tuple(dict.fromkeys(joint)),
    )


def _joint_error(fields: Mapping[str, Slot], error: ArgError) -> JointError | None:
    """The error as one about several properties that have fields of their own; None for any other error."""
    together = error.together
    if together is None or together.why == "needed_by" or _field_of(fields, error.pointer):
        return None
    pointers = child_pointers(error.pointer, together.names)
    known = [slot.field.pointer for p in pointers if (slot := _nearest(fields, p))]
    return JointError(
        tuple(dict.fromkeys(known)), _joint_sentence(together, _names(fields, pointers))
    )


def _joint_sentence(together: Together, names: list[str]) -> str:
    match together.why:
        case "all_set":
            return f"{join_names(names)} can't be set together."
        case "none_set":
            return f"{join_names(names, 'or')} is required."
        case "values" if len(names) == 1:
            return f"{names[0]} can't have this value."
        case "values":
            return f"{join_names(names)} can't have these values together."
        case "needed_by":
            raise AssertionError("its field is known")
    assert_never(together.why)


def _message(fields: Mapping[str, Slot], error: ArgError) -> str:
    if error.together is None or error.together.why != "needed_by":
        return error.message
    parent = error.pointer.rpartition("/")[0]
    names = _names(fields, child_pointers(parent, error.together.names))
    return f"is required when {join_names(names)} is set"


def _names(fields: Mapping[str, Slot], pointers: list[str]) -> list[str]:
    """The fields' labels, else the properties' names."""
    found = ((pointer, _field_of(fields, pointer)) for pointer in pointers)
    return [slot.field.label if slot else format_path(pointer) for pointer, slot in found]


def _field_of(fields: Mapping[str, Slot], pointer: str) -> Slot | None:
    return fields.get(pointer) or fields.get(f"{pointer}~")


def _nearest(fields: Mapping[str, Slot], pointer: str) -> Slot | None:
    while True:
        near = _field_of(fields, pointer)
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
