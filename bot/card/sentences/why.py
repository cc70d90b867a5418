"""Why the agent wants a call, and that it follows a rejected one. Pure."""

from __future__ import annotations

from hitl_core.sentences import join_names

from ..people import person
from ..spans import (
    Line,
    Quote,
    Strong,
    Struck,
    Text,
    Verbatim,
    agent_name,
    quote,
)
from ..values import AgentReason, Attempt, Change

#: Changed arguments that are named: an agent could hide one behind many others.
MAX_LABELS = 20
_UNCHANGED: Line = (Text(", nothing changed"),)


def agent_line(reason: AgentReason) -> Line:
    """In the agent's voice: it may say anything."""
    of = f" of {join_names(map(str, reason.numbers))}" if reason.numbers else ""
    return (Verbatim(agent_name(reason.agent)), Text(f" says{of}: "), Quote(reason.text))


def attempt_lines(attempt: Attempt) -> tuple[Line, ...]:
    """Which attempt it is, what changed, who rejected the one before and why. Values are quoted, on one
    line, so that none looks like the line about the rejection. Nobody is mentioned: that would notify them.
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
