"""The first line of a card, and its notification: both are sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bot import text
from bot.card.model import Open
from hitl_core.model import Action, Call, DecisionType, Review

MAX_NAME = 60
MAX_ASKED = 70
#: One word, as names, addresses and ids are.
_PLAIN = re.compile(r"[\w.@:/+-]+")
#: What people call the answers, in the order in which they are offered.
_ANSWERS: tuple[tuple[DecisionType, str], ...] = (
    ("approve", "approve"),
    ("edit", "edit"),
    ("reject", "reject"),
    ("respond", "answer"),
    ("ignore", "skip"),
)
_DONE: dict[str, str] = {
    "approve": "approved",
    "edit": "edited and approved",
    "reject": "rejected",
    "respond": "answered",
    "ignore": "skipped",
}


class Standing(NamedTuple):
    """A review as it stands at one place: its actions there, those that wait (`opened`, where the card shows
    them), the calls in doubt, and the actions that an edit took away from here.
    """

    review: Review
    here: Sequence[Action]
    waiting: Sequence[Action]
    doubts: Sequence[Call]
    escalated: bool
    opened: Sequence[Open]
    gone: Sequence[Action]


def title(at: Standing) -> str:
    agent = text.shortened(at.review.agent, MAX_NAME)
    if at.doubts:
        return f"{agent}: did {_tools([at.review.tool(call) for call in at.doubts])} run?"
    if at.waiting:
        asks = f"{agent} {_asks(at)}"
        return f"Escalated: {asks}" if at.escalated else asks
    return f"{agent}: {_tools(_names(at))} {_end(at)}"


def summary(at: Standing) -> str:
    agent = text.shortened(at.review.agent, MAX_NAME)
    if at.doubts:
        names = _listed(at.review.tool(call) for call in at.doubts)
        return f"{agent} stopped in the middle of {names}. Say in the channel whether it ran."
    if not at.waiting:
        return f"{agent}: {_listed(_names(at))} {_end(at)}."
    allowed = {decision for a in at.waiting for decision in a.config.allowed_decisions}
    told = _listed((word for decision, word in _ANSWERS if decision in allowed), "or")
    start = "Escalated: " if at.escalated else ""
    it = "it" if len(at.waiting) == 1 else "them"
    alone = at.opened[0] if len(at.opened) == 1 else None
    names = _listed(action.name for action in at.waiting)
    asks = f"asks to run {names}{f' ({alone.fact})' if alone else ''}."
    if _is_question(at.waiting):
        words = alone and (alone.title or alone.why)
        asks = f"{_has(at.waiting)} ({names}){f': {quoted(words)}' if words else '.'}"
    return f"{start}{agent} {asks} {told.capitalize()} {it}."


def quoted(words: str) -> str:
    """What somebody else calls it, between quotes that it can't close."""
    return "“" + words.replace("“", '"').replace("”", '"') + "”"


def as_name(name: str) -> str:
    """A name of an agent's own choice: as it is where it is one plain word, else between quotes, or it could
    read as a sentence of ours.
    """
    return name if _PLAIN.fullmatch(name) else quoted(name)


def _asks(at: Standing) -> str:
    alone = at.opened[0] if len(at.opened) == 1 else None
    is_question = _is_question(at.waiting)
    if alone and (words := alone.title or (alone.why if is_question else "")):
        return f"asks: {quoted(text.clipped(words, MAX_ASKED))}"
    if is_question:
        return _has(at.waiting)
    return f"asks to run {_tools([action.name for action in at.waiting])}"


def _has(waiting: Sequence[Action]) -> str:
    return "has a question" if len(waiting) == 1 else f"has {len(waiting)} questions"


def _is_question(waiting: Sequence[Action]) -> bool:
    """Whether there is nothing to run: people are only asked."""
    return all(not {"approve", "edit"} & {*a.config.allowed_decisions} for a in waiting)


def _names(at: Standing) -> list[str]:
    if not at.here and at.gone:  # what an edit made of them is not for this place
        return [a.request.name for a in at.gone]
    return [a.name for a in at.here] or [c.name for c in at.review.calls]


def _end(at: Standing) -> str:
    if not at.here and at.gone:
        return "edited, for others to decide"
    if at.review.cancelled:
        return "cancelled"
    kinds = {action.decision.type for action in at.here if action.decision}
    return "decided" if len(kinds) != 1 else _DONE[next(iter(kinds))]


def _listed(words: Iterable[str], last: str = "and") -> str:
    """Each once, with how often; six at most."""
    told = [f"{word} ×{n}" if n > 1 else word for word, n in Counter(words).items()]  # noqa: RUF001
    if len(told) > 6:
        told = [*told[:5], f"{len(told) - 5} more"]
    return f" {last} ".join(part for part in (", ".join(told[:-1]), *told[-1:]) if part)


def _tools(names: Sequence[str]) -> str:
    if len(set(names)) > 1:
        return f"{len(names)} tools"
    times = f" ×{len(names)}" if len(names) > 1 else ""  # noqa: RUF001
    return text.shortened(names[0], MAX_NAME) + times
