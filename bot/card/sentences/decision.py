"""Decisions, edits and results. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import DecidedElsewhere, DecisionLine
from ..spans import (
    Code,
    Emphasis,
    Line,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Verbatim,
    join_lines,
)
from ..values import Edit
from .deciders import decider, people_line, person

#: The newest edits of an action that are shown.
MAX_EDITS = 3
#: Who decided and who cancelled, if it was not a person.
NOT_IN_TIME = "the policy, because nobody decided in time"
_BY_AGENT = "the agent"

#: The sign and the words for each decision. A screen reader can't read the sign alone.
_DECISION_TEXTS = {
    "approve": ("✔", "approved by"),
    "edit": ("✎", "edited and approved by"),
    "reject": ("✖", "rejected by"),
    "respond": ("↩", "answered by"),
    "ignore": ("⊘", "skipped by"),
    "cancel": ("⊗", "cancelled by"),
    "moved": ("↪", "now decided by others, after an edit by"),
}


def elsewhere_line(items: Sequence[DecidedElsewhere]) -> Line:
    """What was decided before the review came here."""
    each: list[Line] = [
        (Code(one.name), Text(f" {_DECISION_TEXTS[one.type][1]} "), decider(one.by))
        for one in items
    ]
    return (Text("Decided earlier: "), *join_lines(each), Text("."))


def edit_lines(edits: Sequence[Edit]) -> tuple[Line, ...]:
    """The newest edits of a pending action, old → new."""
    earlier = len(edits) - MAX_EDITS
    lines: list[Line] = [(Emphasis(f"✎ {earlier} earlier edits"),)] if earlier > 0 else []
    lines += [
        (Text("✎ edited by "), person(edit.by), *change_spans(edit)) for edit in edits[-MAX_EDITS:]
    ]
    return tuple(lines)


def change_spans(edit: Edit) -> Line:
    """Each change on a line of its own, after a line break."""
    spans: list[Span] = []
    for change in edit.changes:
        spans += [Text("\n"), Strong(change.label)]
        if change.old is not None:
            spans += [Text("  "), Struck(change.old)]
        new = Text("removed") if change.new is None else Verbatim(change.new)
        spans += [Text(" → "), new]
    if edit.more_changes:
        spans.append(Text(f"\nand {edit.more_changes} more changes"))
    if edit.new_rule:
        spans += [Text("\n"), Emphasis(edit.new_rule)]
    return tuple(spans)


def decision_text(item: DecisionLine, previous: DecisionLine | None = None) -> Line:
    """A sign and the words for the decision, by whom, the edits, and the result. The reason of a cancellation
    is shown once: not if the `previous` line has it.
    """
    spans: list[Span] = []
    if item.type == "allow":
        spans += [Strong(item.name), Text("  allowed by the policy")]
    else:
        spans += _who_decided(item, *_DECISION_TEXTS[item.type])
    is_repeated = previous is not None and item.type == previous.type == "cancel"
    if item.message and not is_repeated:
        spans += [Text(": "), Quote(item.message)]
    for edit in item.edits:
        if len(item.edits) > 1:
            spans += [Text("\nby "), person(edit.by)]
        spans += change_spans(edit)
    if item.result:
        spans += [Text("\n→ "), Verbatim(item.result)]
        if item.result_by:
            spans += [Text(", according to "), person(item.result_by)]
    return tuple(spans)


def _who_decided(item: DecisionLine, sign: str, verb: str) -> list[Span]:
    number = f"{item.number}  " if item.number is not None else ""
    spans: list[Span] = [Strong(f"{sign} {number}{item.name}")]
    if item.distinct_argument:
        spans += [Text("  "), Quote(item.distinct_argument)]
    editors = list({edit.by.key: edit.by for edit in item.edits}.values())
    others_approved = [one.key for one in editors] != [one.key for one in item.by]
    if item.type == "edit" and editors and others_approved:
        spans += [Text("  edited by "), *people_line(editors), Text(", approved by ")]
    else:
        spans.append(Text(f"  {verb} "))
    nobody = Text(_BY_AGENT if item.type == "cancel" else NOT_IN_TIME)
    return [*spans, *(people_line(item.by) or (nobody,))]
