"""The lines in a card's thread. Pure."""

from __future__ import annotations

from typing import assert_never

from ..model import ThreadLine
from ..spans import Line, PlaceNames, Quote, Strong, Text, join_names, plain_text
from .deciders import people, people_line
from .decision import NOT_IN_TIME, change_spans


def thread_text(line: ThreadLine, names: PlaceNames) -> Line:
    """The line as it is shown."""
    tools, by = Strong(join_names(line.names)), people_line(line.by)
    why: Line = (Text(": "), Quote(line.why)) if line.why else ()
    match line.kind:
        case "edited":
            changes = change_spans(line.edit) if line.edit else ()
            return (Text("✎ "), tools, Text("  edited by "), *by, *changes)
        case "rejected":
            who = by or (Text(NOT_IN_TIME),)
            return (Text("✖ "), tools, Text("  rejected by "), *who, *why)
        case "reminded":
            if not line.people:
                late = Text("  was due for a reminder, but is already decided")
                return (Text("⏰ "), tools, late)
            needed = people(line.people, names, either="or")
            return (Text("⏰ "), tools, Text(f"  still {_wait(line)} for "), *needed)
        case "escalated":
            reason = Text(f", {_escalation_reason(line)}")
            who = (Text(" by "), *by) if by else (reason,)
            to = Strong(_place_name(line, names))
            return (Text("↗ "), tools, Text("  escalated to "), to, *who, *why)
    assert_never(line.kind)


def thread_summary(line: ThreadLine, names: PlaceNames) -> str:
    """The same as a plain sentence, for notifications and screen readers."""
    tools, by = join_names(line.names), plain_text(people_line(line.by))
    match line.kind:
        case "edited":
            return f"{tools} was edited by {by}."
        case "rejected":
            reason = plain_text((Text(": "), Quote(line.why))) if line.why else "."
            return f"{tools} was rejected by {by or NOT_IN_TIME}{reason}"
        case "reminded":
            return f"{tools} still {_wait(line)} for a decision."
        case "escalated":
            return (
                f"{tools} was escalated to {_place_name(line, names)}{f' by {by}' if by else ''}."
            )
    assert_never(line.kind)


def _wait(line: ThreadLine) -> str:
    return "waits" if len(line.names) == 1 else "wait"


def _place_name(line: ThreadLine, names: PlaceNames) -> str:
    return names.name_of(line.to) if line.to else "others"


def _escalation_reason(line: ThreadLine) -> str:
    if line.fallback:
        return "because it can't be decided at its own place"
    if line.why:
        return "because nobody was left who may decide"
    return "because nobody decided in time"
