"""Why the agent wants a call, as people read it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hitl_core.model import Action, Call, Review
from hitl_core.review import reason_of

from .. import text
from .arguments import MAX_INLINE
from .model import OpenAction
from .spans import as_name, quote
from .values import AgentReason, Argument

#: Characters of a reason on a card, and in a modal, where it is whole: marks make it longer.
MAX_CUT = 300
MAX_WHOLE = 2_800
MAX_AGENT = 100


def find_reason(review: Review, action: Action) -> str | None:
    """The agent's own words, "" if it gave none; None if they are not shown."""
    call = review.call(action.key)
    return reason_of(review, call) if call else ""


def make_reason(review: Review, reason: str, *, is_whole: bool) -> AgentReason:
    """On one line: a line break could begin a line that looks like one of ours."""
    cut = text.truncate(text.one_line(reason), MAX_WHOLE if is_whole else MAX_CUT)
    return AgentReason(text.shorten(review.agent, MAX_AGENT), cut.text, cut.missing)


def merge_reasons(actions: Sequence[OpenAction]) -> tuple[OpenAction, ...]:
    """A reason that several actions have is shown once, with the first of them."""
    numbers: dict[AgentReason, list[int]] = {}
    for action in actions:
        if action.reason:
            numbers.setdefault(action.reason, []).append(action.number)
    merged: list[OpenAction] = []
    for action in actions:
        if action.reason and len(same := numbers[action.reason]) > 1:
            is_first = same[0] == action.number
            first = replace(action.reason, numbers=tuple(same)) if is_first else None
            action = replace(action, reason=first)
        merged.append(action)
    return tuple(merged)


def reason_argument(review: Review, call: Call) -> Argument | None:
    """The whole reason, for a list of all arguments. It says that it is none of them."""
    if not (reason := reason_of(review, call)):
        return None
    label = f"Not an argument: {as_name(text.one_line(review.agent))} says"
    quoted = quote(text.to_visible(reason))
    return Argument(label, quoted, "\n" in quoted or len(quoted) > MAX_INLINE)
