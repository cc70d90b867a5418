"""The lines in the card's thread: edits, rejections, reminders, escalations, and calls in doubt. Pure."""

from __future__ import annotations

from typing import assert_never

from hitl_core.sentences import join_names

from ..model import Line, PlaceNames, Quote, Strong, Text, ThreadLine, plain_text
from ..people import people, people_line
from .history import NOT_IN_TIME, change_spans


def thread_text(line: ThreadLine, names: PlaceNames) -> Line:
    """The line for the thread."""
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
            called: Line = ()
            if line.people:
                called = (Text("\n"), *people(line.people, names), Text(", please decide"))
            return (Text("↗ "), tools, Text("  escalated to "), to, *who, *why, *called)
        case "doubt":
            needed = people(line.people, names, either="or")
            asked = "  may or may not have run: the agent waits for an answer from "
            return (Text("❓ "), tools, Text(asked), *needed)
    assert_never(line.kind)


def thread_summary(line: ThreadLine, names: PlaceNames) -> str:
    """The line as a plain sentence, for notifications and screen readers."""
    was = "was" if len(line.names) == 1 else "were"
    tools, by = join_names(line.names), plain_text(people_line(line.by))
    match line.kind:
        case "edited":
            return f"{tools} {was} edited by {by}."
        case "rejected":
            reason = plain_text((Text(": "), Quote(line.why))) if line.why else "."
            return f"{tools} {was} rejected by {by or NOT_IN_TIME}{reason}"
        case "reminded":
            return f"{tools} still {_wait(line)} for a decision."
        case "escalated":
            return (
                f"{tools} {was} escalated to {_place_name(line, names)}{f' by {by}' if by else ''}."
            )
        case "doubt":
            return f"{tools} may or may not have run: the agent waits for an answer."
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
