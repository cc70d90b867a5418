"""The history in words: rejected attempts, edits, and escalations. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.model import Place
from hitl_core.sentences import join_names

from ..model import (
    Attempt,
    Card,
    Change,
    Edit,
    Emphasis,
    EscalationNote,
    Line,
    Link,
    PlaceNames,
    PlaceProblem,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Time,
    Verbatim,
    as_part,
    join_lines,
    quote,
)
from ..people import people, person

#: The most edits of an action that are shown, the newest ones.
MAX_EDITS = 3
#: Who decided, if it was not a person.
NOT_IN_TIME = "the policy, because nobody decided in time"
#: The most changed arguments that are named, so that an agent can't hide one behind many others.
MAX_LABELS = 20
_UNCHANGED: Line = (Text(", nothing changed"),)


def edit_lines(edits: Sequence[Edit]) -> tuple[Line, ...]:
    """The newest edits of a pending action, old → new."""
    earlier = len(edits) - MAX_EDITS
    lines: list[Line] = (
        [(Emphasis(f"✎ {earlier} earlier edit{'s' * (earlier > 1)}"),)] if earlier > 0 else []
    )
    lines += [
        (Text("✎ edited by "), person(edit.by), *change_spans(edit)) for edit in edits[-MAX_EDITS:]
    ]
    return tuple(lines)


def change_spans(edit: Edit) -> Line:
    """Each change on its own line, after a line break, so that no line of a value looks like one of ours."""
    spans: list[Span] = []
    for change in edit.changes:
        spans += [Text("\n"), Strong(change.label)]
        if change.old is not None:
            spans += [Text("  "), Struck(as_part(change.old.replace("\n", "⏎")))]
        new = (
            Text("removed")
            if change.new is None
            else Verbatim(as_part(change.new.replace("\n", "⏎")))
        )
        spans += [Text(" → "), new]
    if more := edit.more_changes:
        and_more = f"and {more} more" if edit.changes else str(more)
        spans.append(Text(f"\n{and_more} change{'s' * (more > 1)}"))
    if edit.new_rule:
        spans += [Text("\n"), Emphasis(edit.new_rule)]
    return tuple(spans)


def attempt_lines(attempt: Attempt) -> tuple[Line, ...]:
    """Which attempt it is, what changed, and who rejected the one before and why. Values are quoted, on one
    line, so that none looks like the line about the rejection. Nobody is mentioned, because that would notify
    them.
    """
    labels = (*(change.label for change in attempt.changes), *attempt.also_changed)
    named = Verbatim(join_names(labels, most=MAX_LABELS))
    changed = (Text(", changed: "), named) if labels else _UNCHANGED
    spans = [span for change in attempt.changes for span in _change_line(change)]
    first = (Strong(ordinal(attempt.number)), *changed, *spans)
    who = Verbatim(join_names(person(one).label for one in attempt.by))
    why: Line = (Text(": "), Quote(attempt.message)) if attempt.message else (Text("."),)
    return (first, (who, Text(" rejected the one before"), *why))


def _change_line(change: Change) -> Line:
    """Old → new, after a line break."""
    old: Line = (Text("  "), Struck(quote(_one_line(change.old)))) if change.old is not None else ()
    new = Text("removed") if change.new is None else Quote(_one_line(change.new))
    return (Text("\n"), Strong(change.label), *old, Text(" → "), new)


def _one_line(visible: str) -> str:
    return visible.replace("\n", "⏎")


def ordinal(number: int) -> str:
    """`2nd attempt`."""
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') } attempt"


def call_lines(card: Card, names: PlaceNames) -> tuple[Line, ...]:
    """The people whom an escalation calls, and a link back to the first message."""
    lines: list[Line] = []
    if card.escalation_people:
        lines.append((*people(card.escalation_people, names), Text(", please decide")))
    if card.first_message and (url := names.link(card.first_message)):
        lines.append((Link("see the first message", url),))
    return tuple(lines)


def note_lines(note: EscalationNote, here: Place, names: PlaceNames) -> tuple[Line, ...]:
    """From where, to where, and by whom; and the person's reason. `here`: the card's place."""
    return (_note_line(note, here, names), *([(Quote(note.why),)] if note.why else []))


def problem_lines(problem: PlaceProblem, names: PlaceNames) -> tuple[Line, ...]:
    """Which actions can't be shown at a place and since when, and the reason."""
    numbers = problem.numbers
    actions = f"Action{'s' * (len(numbers) > 1)} {join_names(map(str, numbers))}"
    what = actions if numbers else "This"
    text: Line = (Text(f"⚠ {what} can't be shown in "), names.span(problem.place))
    if problem.is_here:
        text = (Text("⚠ Some people or groups could not be looked up"),)
    if problem.too_few:
        text = (Text(f"⚠ {what} can't be approved in "), names.span(problem.place))
    since = (Text(" (since "), Time(problem.since), Text(")."))
    return (*text, *since), (Text("Reason: "), Verbatim(problem.why))


def _note_line(note: EscalationNote, here: Place, names: PlaceNames) -> Line:
    origin = join_lines([(names.span(place),) for place in note.origin])
    when: Line = (Text(" ("), Time(note.at), Text(")."))
    to: Span = names.span(note.to)
    if note.fallback:
        where: Line = (Text("here"),) if note.to == here else (Text("in "), to)
        why = Text(" because it can't be decided in ")
        return (Text("Shown "), *where, why, *origin, *when)
    if note.to == here:
        if note.by:
            return (Text("Passed on from "), *origin, Text(" by "), person(note.by), *when)
        late = "nobody may decide on this there any more" if note.why else "not decided in time"
        return (Text("Escalated from "), *origin, Text(f": {late}"), *when)
    if note.by:
        return (Text("Escalated to "), to, Text(" by "), person(note.by), *when)
    late = "nobody may decide on this any more" if note.why else "it was not decided in time"
    return (Text("Escalated to "), to, Text(f" because {late}"), *when)
