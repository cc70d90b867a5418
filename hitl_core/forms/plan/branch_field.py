"""The field that chooses one branch of `oneOf` or `anyOf`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_core.forms.fast_replace import fast_replace
from hitl_core.forms.field import Option
from hitl_core.forms.fields import NOT_SET
from hitl_core.forms.plan.branches import Branch
from hitl_core.forms.slot import ABSENT, Slot


def branch_slot(slot: Slot, branches: tuple[Branch, ...], current: int | None) -> Slot:
    labels = [branch.label for branch in branches]
    values: list[Any] = list(range(len(branches)))
    if slot.on_clear in ("leave", "null"):
        labels.append(NOT_SET)
        values.append(ABSENT)
        current = len(branches) if current is None else current
    field = fast_replace(
        slot.field,
        pointer=slot.field.pointer + "~",
        kind="choice",
        options=tuple(Option(label) for label in labels),
        initial=None if current is None else str(current),
        redraws=slot.field.locked is None,
    )
    return fast_replace(
        slot, field=field, reads="option", values=tuple(values), is_branch_choice=True
    )


def read_branch_choice(slot: Slot, answers: Mapping[str, str | None]) -> Any:
    """The index of the chosen branch, ABSENT for "Not set", None if nothing is chosen."""
    field = slot.field
    answer = field.initial if field.locked else answers.get(field.pointer, field.initial)
    if not answer and ABSENT in slot.values:
        return ABSENT
    if not (answer and answer.isdecimal() and int(answer) < len(slot.values)):
        answer = field.initial
    return None if answer is None else slot.values[int(answer)]
