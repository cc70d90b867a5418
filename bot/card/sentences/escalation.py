"""How a review came to its places, and where it can't be shown. Pure."""

from __future__ import annotations

from hitl_core.model import Place

from ..model import Card, EscalationNote, PlaceProblem
from ..spans import (
    Line,
    Link,
    PlaceNames,
    Quote,
    Span,
    Text,
    Time,
    Verbatim,
    join_lines,
    join_names,
)
from .deciders import people, person


def call_lines(card: Card, names: PlaceNames) -> tuple[Line, ...]:
    """The people whom an escalation calls, and a link back to the first message."""
    lines: list[Line] = []
    if card.escalation_people:
        lines.append((*people(card.escalation_people, names), Text(", please decide")))
    if card.first_message and (url := names.link(card.first_message)):
        lines.append((Link("see the first message", url),))
    return tuple(lines)


def note_lines(note: EscalationNote, here: Place, names: PlaceNames) -> tuple[Line, ...]:
    """From where, to where, by whom; and the person's reason. `here` is the card's place."""
    return (_note_line(note, here, names), *([(Quote(note.why),)] if note.why else []))


def problem_lines(problem: PlaceProblem, names: PlaceNames) -> tuple[Line, ...]:
    """Which actions can't be shown at a place and since when, and the reason."""
    numbers = problem.numbers
    what = f"Number {join_names(map(str, numbers))}" if numbers else "This"
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
