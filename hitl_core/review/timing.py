"""The state machine, time's half: what is due is done, and a clock starts. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_core.errors import Refused
from hitl_core.model import Action, Decision, Place, Review
from hitl_core.review.changed import Changed, event_of, with_actions
from hitl_core.review.clock import is_late, remind_at, step_at
from hitl_core.review.routing import moved, step


def fire(review: Review, now: float) -> Changed:
    """What time does: expire first, then escalate what still waits, however late it is, then remind."""
    pending = [a for a in review.actions if a.pending] if review.status == "pending" else []
    if late := {a.key: _expired(a, now) for a in pending if is_late(a, now)}:
        kinds = [a.decision.type for a in late.values() if a.decision]
        event = event_of("expired", review, now, late, what=kinds)
        return Changed(with_actions(review, late, now), event)
    if stepped := {a.key: _stepped(a, now) for a in pending if _is_due(step_at(a), now)}:
        return moved(review, stepped, now)
    due = [a for a in pending if _is_due(remind_at(a), now)]
    if not due:
        raise Refused("not_due", "Nothing is due.")
    reminded = {a.key: a.model_copy(update={"reminded": (*a.reminded, now)}) for a in due}
    event = event_of("reminded", review, now, reminded)
    return Changed(with_actions(review, reminded, now), event)


def delivered(
    review: Review, keys: Iterable[str], now: float, *, place: Place | None = None
) -> Changed:
    """The first card of these actions was posted: of those that wait for that, the clock starts now. Raises
    Refused where none does.
    """
    named = frozenset(keys)
    started = {
        action.key: action.model_copy(update={"delivered_at": now})
        for action in review.actions
        if action.key in named and action.pending and action.clock is None
    }
    if not started or review.status != "pending":
        raise Refused("not_due", "No clock waits for this.")
    event = event_of("delivered", review, now, started, place=place)
    return Changed(with_actions(review, started, now), event)


def _is_due(time: float | None, now: float) -> bool:
    return time is not None and time <= now


def _stepped(action: Action, now: float) -> Action:
    """All the steps that are due, in their order."""
    while _is_due(step_at(action), now):
        action = step(action, None, now)
    return action


def _expired(action: Action, now: float) -> Action:
    expire = action.route.expire
    assert expire is not None  # is_late said so
    decision = Decision(
        type=expire.decision,
        by=None,
        at=now,
        revision=action.revision,
        digest=action.digest,
        message=expire.message,
    )
    return action.model_copy(update={"decision": decision})
