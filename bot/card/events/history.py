"""The history of a review: edits, argument by argument, and escalations. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hitl_core.jsonschema import schema_properties, to_pointer
from hitl_core.model import (
    Action,
    DisplayHint,
    EditRecord,
    Escalation,
    Grant,
    MessageRef,
    Place,
    Review,
)
from hitl_core.review import compared_pointers, redaction_pointers, visible_schema

from ... import text
from ..arguments import (
    HIDDEN_MARK,
    MAX_LABEL,
    amount_text,
    argument_label,
    format_value,
    hide,
    keys_in_order,
    mark_hidden,
)
from ..model import Attempt, Change, Edit, EscalationNote
from ..people import people_of
from .votes import message_of

MAX_CHANGES = 8
MAX_ATTEMPT_CHANGES = 4
#: The most characters of the old and the new text of one change, and of the unchanged text around it.
MAX_CHANGE = 300
CONTEXT = 12


def edits_of(review: Review, action: Action) -> tuple[Edit, ...]:
    """All edits of an action, oldest first."""
    if action.edits:
        return tuple(edit_of(review, action, edited) for edited in action.edits)
    decision = action.decision
    if decision is None or decision.type != "edit" or decision.by is None:
        return ()
    # An edit without a record changed no argument.
    changes = _changes(review, action, action.revision) if action.revision > 1 else []
    return (_edit(decision.by, changes, decision.name),)


def edit_of(review: Review, action: Action, edited: EditRecord) -> Edit:
    edit = _edit(edited.by, _changes(review, action, edited.revision), edited.name)
    return replace(edit, new_rule=_new_rule_text(action, edited))


def attempt_of(review: Review, action: Action) -> Attempt | None:
    """The comparison with the rejected call; None for a first attempt, or if its record is gone."""
    if (earlier := action.rejected_before) is None:
        return None
    changes = _changes(review, action, 1)
    shown, others = changes[:MAX_ATTEMPT_CHANGES], changes[MAX_ATTEMPT_CHANGES:]
    labels, why = tuple(one.label for one in others), message_of(earlier.message)
    return Attempt(earlier.times + 1, tuple(shown), labels, earlier.by, why)


def _edit(by: Any, changes: list[Change], tool: str | None) -> Edit:
    return Edit(by, tuple(changes[:MAX_CHANGES]), max(0, len(changes) - MAX_CHANGES), tool)


def _new_rule_text(action: Action, edited: EditRecord) -> str | None:
    """The rule that the edit falls under; for the newest edit also what that means. The card's footer names
    the people.
    """
    if edited.under is None:
        return None
    rule = edited.under.rule_label
    if edited is not action.edits[-1]:
        return f"The edit fell under {rule}."
    if (quorum := action.route.reviewers.quorum) > 1:
        return f"The edit falls under {rule}: {quorum} people must approve."
    others = ", so other people must decide" if action.is_pending and _asks_others(action) else ""
    return f"The edit falls under {rule}{others}."


def _asks_others(action: Action) -> bool:
    """Whether the rule that an edit falls under asks other people than the rule before."""
    before, now = (
        people_of([Grant(route.notify, route.reviewers)])
        for route in (action.earlier[-1].route, action.route)
    )
    return before != now


def _changes(review: Review, action: Action, revision: int) -> list[Change]:
    """The changes between the revision before and this one. Before revision 1 is the rejected call."""
    schemas = schema_properties(visible_schema(action.config))
    old = review.arguments(action.key, revision - 1).parse()
    new = review.arguments(action.key, revision).parse()
    each = [
        (key, _value_text(old, key), _value_text(new, key))
        for key in keys_in_order({**old, **new}, schemas)
    ]
    differ = [key for key, before, after in each if before != after]
    hints = {hint.pointer: hint for hint in action.config.display}
    pointers = redaction_pointers if revision > 1 else compared_pointers
    redact = [*pointers(action, old), *pointers(action, new)]
    if redact:
        old, new = hide(old, None, redact), hide(new, None, redact)
    texts = [(key, _value_text(old, key, hints), _value_text(new, key, hints)) for key in differ]
    return [_change(argument_label(key, schemas.get(key)), *both) for key, *both in texts]


def _change(label: str, old: str | None, new: str | None) -> Change:
    label = text.truncate(label, MAX_LABEL).text
    if old is not None and new is not None:
        if old == new:  # the difference is hidden
            return Change(label, HIDDEN_MARK, "⟦another hidden value⟧")
        old, new = _trim_common(old, new)
    return Change(label, _excerpt(old), _excerpt(new))


def _value_text(
    args: dict[str, Any], key: str, hints: Mapping[str, DisplayHint] | None = None
) -> str | None:
    """The text of the value. An amount has its currency, as on the card."""
    if key not in args:
        return None
    money = amount_text(args, key, hints.get(to_pointer((key,)))) if hints else None
    return format_value(args[key]) if money is None else money


def _excerpt(raw: str | None) -> str | None:
    return raw and mark_hidden(text.excerpt(raw, MAX_CHANGE, lines=8).text)


def _trim_common(old: str, new: str) -> tuple[str, str]:
    """Both texts without their common start and end if these are long. The cuts are between words."""
    start = _word_start(old, common := _common_length(old, new))
    backwards = (
        old[: common - 1 if common else None : -1],
        new[: common - 1 if common else None : -1],
    )
    back = _word_start(old[::-1], _common_length(*backwards))
    parts = (value[start : len(value) - back] for value in (old, new))
    first, second = (("…" if start else "") + part + ("…" if back else "") for part in parts)
    return first, second


def _common_length(one: str, other: str) -> int:
    """The length of the common start, by binary search, because the texts may be long."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        half = (least + most + 1) // 2
        least, most = (half, most) if one[:half] == other[:half] else (least, half - 1)
    return least


def _word_start(value: str, same: int) -> int:
    """The position to start from if the first `same` characters are equal: between two words of that line."""
    line = value.rfind("\n", 0, same) + 1
    return max(line, value.rfind(" ", line, max(line, same - CONTEXT)) + 1)


def notes_of(here: list[Action]) -> tuple[EscalationNote, ...]:
    """One note for each place, in the order in which the review came there."""
    notes: dict[Place, EscalationNote] = {}
    for action in here:
        origin = action.route.notify
        for step in action.escalations:
            notes.setdefault(step.to, _note(step, origin))
            origin = (*origin, step.to)
    return tuple(notes.values())


def first_message(
    here: list[Action], place: Place, posts: Mapping[Place, MessageRef]
) -> MessageRef | None:
    """The message that was posted before the review was escalated to this place."""
    places = [origin for action in here for origin in action.places if origin != place]
    return next((posts[origin] for origin in places if origin in posts), None)


def _note(step: Escalation, origin: tuple[Place, ...]) -> EscalationNote:
    return EscalationNote(
        step.to, origin, step.at, step.by, message_of(step.why), step.step is None
    )
