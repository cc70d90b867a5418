"""The first line of a card, and its notification: both are sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot import text
from hitl_core.model import Action, Call, DecisionType, Review

#: What people call the answers, in the order in which they are offered.
_ANSWERS: tuple[tuple[DecisionType, str], ...] = (
    ("approve", "approve"),
    ("edit", "edit"),
    ("reject", "reject"),
    ("respond", "answer"),
    ("ignore", "skip"),
)


class Standing(NamedTuple):
    """A review as it stands at one place: its actions there, those that wait, and the calls in doubt."""

    review: Review
    here: Sequence[Action]
    waiting: Sequence[Action]
    doubts: Sequence[Call]
    escalated: bool


def title(at: Standing) -> str:
    agent = text.shortened(at.review.agent, 60)
    if at.doubts:
        return f"{agent}: did {_tools(at.doubts)} run?"
    if at.waiting:
        asks = f"{agent} asks to run {_tools(at.waiting)}"
        return f"Escalated: {asks}" if at.escalated else asks
    return f"{agent}: {_tools(at.here or at.review.calls)} {_end(at.review)}"


def summary(at: Standing) -> str:
    agent = text.shortened(at.review.agent, 60)
    if at.doubts:
        names = _listed(at.review.tool(call) for call in at.doubts)
        return f"{agent} stopped in the middle of {names}. Say in the channel whether it ran."
    if not at.waiting:
        names = _listed([a.request.name for a in at.here] or [c.name for c in at.review.calls])
        return f"{agent}: {names} {_end(at.review)}."
    names = _listed(action.request.name for action in at.waiting)
    allowed = {decision for a in at.waiting for decision in a.config.allowed_decisions}
    told = _listed((word for decision, word in _ANSWERS if decision in allowed), "or")
    start = "Escalated: " if at.escalated else ""
    it = "it" if len(at.waiting) == 1 else "them"
    return f"{start}{agent} asks to run {names}. {told.capitalize()} {it}."


def _end(review: Review) -> str:
    return "cancelled" if review.cancelled else "decided"


def _listed(words: Iterable[str], last: str = "and") -> str:
    """Each once, with how often; six at most."""
    told = [f"{word} ×{n}" if n > 1 else word for word, n in Counter(words).items()]  # noqa: RUF001
    if len(told) > 6:
        told = [*told[:5], f"{len(told) - 5} more"]
    return f" {last} ".join(part for part in (", ".join(told[:-1]), *told[-1:]) if part)


def _tools(of: Sequence[Action | Call]) -> str:
    return "1 tool" if len(of) == 1 else f"{len(of)} tools"
