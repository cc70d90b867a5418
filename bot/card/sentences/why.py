"""Why the agent wants a call, and that it follows a rejected one. Pure."""

from __future__ import annotations

from ..people import person
from ..spans import Line, Quote, Strong, Text, Verbatim, as_name, join_names
from ..values import AgentReason, Attempt
from .history import changed_value_spans

_UNCHANGED: Line = (Text(", nothing changed"),)


def reason_line(reason: AgentReason) -> Line:
    """In the agent's voice: it may say anything."""
    of = f" of {join_names(map(str, reason.numbers))}" if reason.numbers else ""
    return (Verbatim(as_name(reason.agent)), Text(f" says{of}: "), Quote(reason.text))


def attempt_lines(attempt: Attempt) -> tuple[Line, ...]:
    """Which attempt it is and what changed, then who rejected the one before and why. The names of arguments
    are the agent's. Nobody is mentioned: that would notify them.
    """
    labels = [as_name(change.label) for change in attempt.changes]
    labels += [f"{attempt.more_changes} more"] if attempt.more_changes else []
    changed = (Text(", changed: "), Verbatim(join_names(labels))) if labels else _UNCHANGED
    first = (Strong(ordinal(attempt.number)), *changed, *changed_value_spans(attempt.changes))
    who = Verbatim(join_names(person(one).label for one in attempt.by))
    why: Line = (Text(": "), Quote(attempt.message)) if attempt.message else (Text("."),)
    return (first, (who, Text(" rejected the one before"), *why))


def ordinal(number: int) -> str:
    """`2nd attempt`."""
    last = 0 if number % 100 in (11, 12, 13) else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') } attempt"
