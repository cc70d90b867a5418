"""The changes of edits, argument by argument. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hitl_core.model import Action, EditRecord, Review
from hitl_core.review import redaction_pointers, visible_schema

from .. import text
from . import redaction
from .arguments import MAX_LABEL, argument_label, keys_in_order
from .values import Change, Edit

MAX_CHANGES = 8
#: Characters of the old and the new text of one change, and of the unchanged text around it.
MAX_CHANGE = 300
CONTEXT = 12


def edits_of(review: Review, action: Action) -> tuple[Edit, ...]:
    """All edits of an action, oldest first."""
    if action.edits:
        return tuple(edit_of(review, action, edited) for edited in action.edits)
    decision = action.decision
    if decision is None or decision.type != "edit" or decision.by is None:
        return ()
    # An edit without a record: it changed no argument.
    changes = _changes(review, action, action.revision) if action.revision > 1 else []
    return (_edit(decision.by, changes, decision.name),)


def edit_of(review: Review, action: Action, edited: EditRecord) -> Edit:
    edit = _edit(edited.by, _changes(review, action, edited.revision), edited.name)
    return replace(edit, new_rule=_new_rule_text(action, edited))


def _edit(by: Any, changes: list[Change], tool: str | None) -> Edit:
    return Edit(by, tuple(changes[:MAX_CHANGES]), max(0, len(changes) - MAX_CHANGES), tool)


def _new_rule_text(action: Action, edited: EditRecord) -> str | None:
    """The rule that applies now; for the newest edit also its quorum. The card's footer names the people."""
    if edited.under is None:
        return None
    rule = f"the rule `{edited.under.rule}`" if edited.under.rule else "the policy's default"
    quorum = action.route.reviewers.quorum
    if edited is not action.edits[-1] or quorum == 1:
        return f"The edit falls under {rule}, so other people must decide."
    return f"The edit falls under {rule}: {quorum} people must approve."


def _changes(review: Review, action: Action, revision: int) -> list[Change]:
    """The changes between this revision and the one before it."""
    schema = visible_schema(action.config)
    old = review.arguments(action.key, revision - 1).parse()
    new = review.arguments(action.key, revision).parse()
    each = [
        (key, _value_text(old, key), _value_text(new, key))
        for key in keys_in_order({**old, **new}, schema)
    ]
    differ = [(key, before, after) for key, before, after in each if before != after]
    redact = [*redaction_pointers(action, old), *redaction_pointers(action, new)]
    if redact:
        old, new = redaction.hide(old, None, redact), redaction.hide(new, None, redact)
        differ = [(key, _value_text(old, key), _value_text(new, key)) for key, *_ in differ]
    return [_change(argument_label(key, schema), before, after) for key, before, after in differ]


def _change(label: str, old: str | None, new: str | None) -> Change:
    label = text.truncate(label, MAX_LABEL).text
    if old is not None and new is not None:
        if old == new:  # the difference is hidden
            return Change(label, redaction.HIDDEN, "⟦another hidden value⟧")
        old, new = _trim_common(old, new)
    return Change(label, _excerpt(old), _excerpt(new))


def _value_text(args: dict[str, Any], key: str) -> str | None:
    return text.format_value(args[key]) if key in args else None


def _excerpt(raw: str | None) -> str | None:
    return raw and redaction.mark_hidden(text.excerpt(raw, MAX_CHANGE, lines=8).text)


def _trim_common(old: str, new: str) -> tuple[str, str]:
    """Both texts without a long common start and end, cut between words."""
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
    """The length of the common start, by binary search: the texts may be long."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        half = (least + most + 1) // 2
        least, most = (half, most) if one[:half] == other[:half] else (least, half - 1)
    return least


def _word_start(value: str, same: int) -> int:
    """Where to start if the first `same` characters are equal: between two words of that line."""
    line = value.rfind("\n", 0, same) + 1
    return max(line, value.rfind(" ", line, max(line, same - CONTEXT)) + 1)
