"""The decisions: by whom, about what, why, and what became of the call. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from hitl_core.review import PAST_VERBS

from ..arguments import (
    MIN_ALIKE,
    common_values,
    group_differences,
    join_numbers,
    shorten_fact,
)
from ..model import (
    CallValue,
    Code,
    DecidedElsewhere,
    DecisionLine,
    Emphasis,
    Line,
    Outcome,
    Quote,
    Span,
    Strong,
    Text,
    Verbatim,
    join_lines,
)
from ..people import decider, people_line, person
from .history import NOT_IN_TIME, change_spans

#: The most characters of a fact in a list.
MAX_SHORT_FACT = 100
#: The most facts of many calls whose differences can't all be said; and the most different results of many
#: calls.
MAX_FACTS, MAX_RESULTS = 3, 3
_DIGITS = re.compile(r"\d+")
#: Who cancelled, if it was not a person.
_BY_AGENT = "the agent"

#: The sign and the words for each decision. A screen reader can't read the sign alone.
_SIGNS = {
    "approve": "✔",
    "edit": "✎",
    "reject": "✖",
    "respond": "↩",
    "ignore": "⊘",
    "cancel": "⊗",
    "moved": "↪",
}
_VERBS: Mapping[str, str] = {
    **PAST_VERBS,
    "cancel": "cancelled",
    "moved": "now decided by others, after an edit",
}


def elsewhere_line(items: Sequence[DecidedElsewhere]) -> Line:
    """The decisions before the review came to this place."""
    each: list[Line] = [
        (Code(one.name), Text(f" {_VERBS[one.type]} by "), decider(one.by)) for one in items
    ]
    return (Text("Decided earlier: "), *join_lines(each), Text("."))


def decision_lines(items: Sequence[DecisionLine]) -> tuple[Line, ...]:
    """One line for each decision. The reason of a cancellation is with the first call that it ended."""
    first = next((item for item in items if item.type == "cancel"), None)
    return tuple(
        decision_text(group[0], gives_reason=group[0] is first or group[0].type != "cancel")
        if len(group) == 1
        else _alike_text(group)
        for group in group_alike(items)
    )


def group_alike(items: Sequence[DecisionLine]) -> list[list[DecisionLine]]:
    """The decisions in groups: many equal ones on one tool, without an edit, or a single one."""
    groups: dict[object, list[DecisionLine]] = {}
    for item in items:
        groups.setdefault(_alike_key(item), []).append(item)
    small = {key for key, group in groups.items() if len(group) < MIN_ALIKE}
    each: dict[object, list[DecisionLine]] = {}
    for item in items:
        key = _alike_key(item)
        each.setdefault(item.key if key in small else key, []).append(item)
    return list(each.values())


def _alike_key(item: DecisionLine) -> object:
    """The key by which decisions share one line. A call that shares no line has its own key."""
    if item.number is None or item.edits or item.type in ("allow", "moved"):
        return item.key
    outcome = item.outcome and (item.outcome.kind, item.outcome.name, item.outcome.by)
    by = tuple(one.key for one in item.by)
    return (item.name, item.type, by, item.message, item.is_note, outcome)


def _alike_text(group: Sequence[DecisionLine]) -> Line:
    """One decision on many calls of one tool: how many, by whom, which numbers, and about what."""
    first = replace(group[0], number=None, name=f"{group[0].name} ×{len(group)}")  # noqa: RUF001
    numbers = {item.number: item.values for item in group if item.number is not None}
    spans = [*_who_decided(first), Text(f"\n{join_numbers(numbers)}")]
    if about := _about_alike(group, numbers):
        spans += [Text(":  "), Quote(about)]
    return (*spans, *_why(first), *_alike_outcomes(group))


def _about_alike(
    group: Sequence[DecisionLine], numbers: Mapping[int, tuple[CallValue, ...] | None]
) -> str:
    """What these calls have in common, and how they differ; the first facts if that can't all be said."""
    parts = group_differences(numbers)
    if parts is not None:
        same = common_values([values or () for values in numbers.values()])
        return "; ".join([*(f"{one.label}: {one.text}" for one in same), *parts])
    facts = list(dict.fromkeys(item.fact for item in group if item.fact))
    more = [f"and {len(facts) - MAX_FACTS} more"] if len(facts) > MAX_FACTS else []
    return "; ".join([*facts[:MAX_FACTS], *more])


def _alike_outcomes(group: Sequence[DecisionLine]) -> Line:
    """The results. Those that differ only in numbers are one line; any other may be a failure."""
    outcomes = [item.outcome for item in group if item.outcome]
    if not outcomes:
        return ()
    if outcomes[0].kind not in ("result", "note"):
        return (Text("\n→ "), *_outcome_spans(outcomes[0]))
    alike: dict[str, list[DecisionLine]] = {}
    for item in group:
        if item.outcome:
            alike.setdefault(_DIGITS.sub("0", item.outcome.text), []).append(item)
    spans: list[Span] = []
    for those in list(alike.values())[:MAX_RESULTS]:
        which = join_numbers(one.number for one in those if one.number is not None)
        of = f"{which}: " if len(those) < len(group) else ""
        spans += [Text(f"\n→ {of}"), *_outcome_spans(those[0].outcome or outcomes[0])]
        spans += [Text(f", and {len(those) - 1} like it")] if len(those) > 1 else []
    if more := sum(map(len, list(alike.values())[MAX_RESULTS:])):
        spans.append(Text(f"\n→ and {more} other results"))
    return tuple(spans)


def decision_text(item: DecisionLine, *, gives_reason: bool = True) -> Line:
    """A sign and the words for the decision, by whom, about what, why, the edits, and the result."""
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


def short_decision(item: DecisionLine) -> Line:
    """The decision on one line: what, by whom, about what."""
    fact = shorten_fact(item.fact, MAX_SHORT_FACT)
    return (*_who_decided(item), *([Text("  "), Quote(fact)] if fact else []))


def _decided_call(item: DecisionLine) -> Line:
    """The main fact, and what distinguishes the call. They are quoted, because they may say anything."""
    facts = [Quote(fact) for fact in (item.fact, item.distinct_argument) if fact]
    return tuple(
        span for at, fact in enumerate(facts) for span in (Text("  " if at else "\n"), fact)
    )


def _who_decided(item: DecisionLine) -> Line:
    """The tool, its number if there are several, and the decision."""
    number = f"{item.number}  " if item.number is not None else ""
    if item.type == "allow":
        return (Strong(f"{number}{item.name}"), Text("  allowed by the policy"))
    sign = Strong(f"{_SIGNS[item.type]} {number}{item.name}")
    editors = list({edit.by.key: edit.by for edit in item.edits}.values())
    others_approved = [one.key for one in editors] != [one.key for one in item.by]
    if item.type == "edit" and editors and others_approved:
        verb: Line = (Text("  edited by "), *people_line(editors), Text(", approved by "))
    else:
        verb = (Text(f"  {_VERBS[item.type]} by "),)
    nobody = Text(_BY_AGENT if item.type == "cancel" else NOT_IN_TIME)
    rest = (Text(": it did not run"),) if item.type == "cancel" else ()
    return (sign, *verb, *(people_line(item.by) or (nobody,)), *rest)


def _why(item: DecisionLine) -> Line:
    """The reason or the answer on its own line; or that none was given, if one is expected."""
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
    """The result, quoted as the tool's own words."""
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
            unknown = " may have run. The agent goes on without it"
            if outcome.by is None:  # the agent's own choice
                return (Strong(outcome.name), Text(unknown))
            return (Strong(outcome.name), Text(f"{unknown}, says "), *who)
        case "rerun":
            return (Strong(outcome.name), Text(" runs again, says "), *who)
    assert_never(outcome.kind)
