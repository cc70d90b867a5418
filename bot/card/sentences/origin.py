"""For whom, from where, and until when. Pure."""

from __future__ import annotations

from ... import text
from ..model import Card, Deadline, NextStep
from ..spans import Code, Line, Link, PlaceNames, Span, Text, Time, Verbatim, as_name
from .people import requester

#: Characters of the requester's name, and of the names of all agents on the way.
MAX_REQUESTER = 96
MAX_PATH = 193

_DEADLINE_TEXTS = {"reject": "rejected", "respond": "answered by the policy", "ignore": "skipped"}


def origin_lines(card: Card, names: PlaceNames) -> tuple[Line, ...]:
    """For whom and in which conversation, through which agents, and the next deadlines; each is one fact."""
    source = card.origin
    asked_in: list[Span] = []
    if source.requester:
        asked_in += [Text("For "), requester(source.requester, MAX_REQUESTER)]
    url = source.conversation and names.conversation_link(source.conversation)
    if url:
        asked_in += [Text(" in " if asked_in else "in "), Link("this conversation", url)]
    lines: list[Line] = [tuple(asked_in)] if asked_in else []
    if source.path:
        path = text.clip(" → ".join(map(as_name, source.path)), MAX_PATH)
        lines.append((Text("via "), Verbatim(path)))
    return (*lines, *_due_lines(card, names))


def format_duration(seconds: float) -> str:
    """In one unit, rounded."""
    for length, unit in ((86_400, "day"), (3600, "h"), (60, "min")):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'s' * (unit == 'day' and count > 1)}"
    return f"{max(1, round(seconds))} s"


def _due_lines(card: Card, names: PlaceNames) -> list[Line]:
    if card.doubts:
        return [(Text("the agent waits for an answer"),)]
    if card.decision_time is not None:
        return [(Text(f"decided after {format_duration(card.decision_time)}"),)]
    if not card.waiting:
        return []
    lines: list[Line] = []
    if (step := card.next_step) is not None:
        to = names.span(step.to)
        lines.append((Text("escalates to "), to, Text(" ("), _due_span(step), Text(")")))
    if (end := card.deadline) is not None:
        what: Line = (Code(end.name), Text(" is ")) if end.name else ()
        unless = f"{_DEADLINE_TEXTS[end.decision]} unless decided in time ("
        lines.append((*what, Text(unless), _due_span(end), Text(")")))
    return lines or [(Text("waits until somebody decides"),)]


def _due_span(due: NextStep | Deadline) -> Span:
    """The time; the duration if the timer has not started (it starts when this message is posted)."""
    return Text(f"after {format_duration(due.after)}") if due.at is None else Time(due.at)
