"""The decisions: by whom, about what, why, and what became of the call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ..model import DecidedElsewhere, DecisionLine
from ..people import decider, people_line, person
from ..spans import Code, Emphasis, Line, Quote, Strong, Text, Verbatim, join_lines
from ..values import Outcome
from .history import NOT_IN_TIME, change_spans

#: Who cancelled, if it was not a person.
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


def decision_lines(items: Sequence[DecisionLine]) -> tuple[Line, ...]:
    """One for each decision. The reason of a cancellation is with the first one that it ended."""
    first = next((item for item in items if item.type == "cancel"), None)
    return tuple(
        decision_text(item, gives_reason=item is first or item.type != "cancel") for item in items
    )


def decision_text(item: DecisionLine, *, gives_reason: bool = True) -> Line:
    """A sign and the words for the decision, by whom, about what, why, the edits, and what became of it."""
    spans = [*_who_decided(item), *_decided_call(item)]
    if gives_reason:
        spans += _why(item)
    for edit in item.edits:
        if len(item.edits) > 1:
            spans += [Text("\nby "), person(edit.by)]
        spans += change_spans(edit)
    if item.outcome:
        spans += [Text("\n→ "), *_outcome_spans(item.outcome)]
    return tuple(spans)


def _decided_call(item: DecisionLine) -> Line:
    """The main fact, and what distinguishes it: in quotes, they may say anything."""
    facts = [Quote(fact) for fact in (item.fact, item.distinct_argument) if fact]
    return tuple(
        span for at, fact in enumerate(facts) for span in (Text("  " if at else "\n"), fact)
    )


def _who_decided(item: DecisionLine) -> Line:
    """The tool, its number where there are several, and the decision."""
    number = f"{item.number}  " if item.number is not None else ""
    if item.type == "allow":
        return (Strong(f"{number}{item.name}"), Text("  allowed by the policy"))
    sign = Strong(f"{_DECISION_TEXTS[item.type][0]} {number}{item.name}")
    editors = list({edit.by.key: edit.by for edit in item.edits}.values())
    others_approved = [one.key for one in editors] != [one.key for one in item.by]
    if item.type == "edit" and editors and others_approved:
        verb: Line = (Text("  edited by "), *people_line(editors), Text(", approved by "))
    else:
        verb = (Text(f"  {_DECISION_TEXTS[item.type][1]} "),)
    nobody = Text(_BY_AGENT if item.type == "cancel" else NOT_IN_TIME)
    rest = (Text(": it did not run"),) if item.type == "cancel" else ()
    return (sign, *verb, *(people_line(item.by) or (nobody,)), *rest)


def _why(item: DecisionLine) -> Line:
    """The reason or the answer, on a line of its own; that none was given, where a reason is expected."""
    if not item.message:
        is_expected = item.by and item.type in ("reject", "cancel")
        return (Text("\nNo reason was given."),) if is_expected else ()
    if item.is_note:
        return (Text("\n"), Text(item.message))
    if item.type == "cancel" and not item.by:
        return (Text("\nThe agent says: "), Quote(item.message))
    label = "Reason" if item.type in ("reject", "ignore", "cancel") else "Answer"
    is_policy = not item.by
    return (Text(f"\n{label}: "), Emphasis(item.message) if is_policy else Quote(item.message))


def _outcome_spans(outcome: Outcome) -> Line:
    """A result is quoted as the tool's own words."""
    who: Line = (decider(outcome.by),)
    match outcome.kind:
        case "result":
            return (Text("It reported: "), Quote(outcome.text))
        case "note":
            return (Verbatim(outcome.text),)
        case "paused":
            return (Text("It asks a question of its own before it continues"),)
        case "ran":
            return (Strong(outcome.name), Text(" ran, says "), *who)
        case "skipped":
            unknown = Text(" may have run. The agent goes on without it, says ")
            return (Strong(outcome.name), unknown, *who)
        case "rerun":
            return (Strong(outcome.name), Text(" runs again, says "), *who)
    assert_never(outcome.kind)
