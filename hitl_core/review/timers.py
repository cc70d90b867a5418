"""The time's part of the state machine: deadlines, escalations and reminders that are due. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_core.errors import Refused
from hitl_core.model import Action, Decision, Place, Review
from hitl_core.review.due_times import is_late, next_step_at, remind_at
from hitl_core.review.escalation import apply_escalations, take_step
from hitl_core.review.transition import Transition, make_event, with_actions


def apply_due(review: Review, now: float) -> Transition:
    """Do the first of these that is due, also if it is late: expire, escalate, remind. Raises Refused if
    nothing is due.
    """
    pending = [a for a in review.actions if a.is_pending] if review.status == "pending" else []
    if late := {a.key: _expire(a, now) for a in pending if is_late(a, now)}:
        kinds = [a.decision.type for a in late.values() if a.decision]
        event = make_event("expired", review, now, late, what=kinds)
        return Transition(with_actions(review, late, now), event)
    if stepped := {
        a.key: _take_due_steps(a, now) for a in pending if _is_due(next_step_at(a), now)
    }:
        return apply_escalations(review, stepped, now)
    due = [a for a in pending if _is_due(remind_at(a), now)]
    if not due:
        raise Refused("not_due", "Nothing is due.")
    reminded = {a.key: a.model_copy(update={"reminded": (*a.reminded, now)}) for a in due}
    event = make_event("reminded", review, now, reminded)
    return Transition(with_actions(review, reminded, now), event)


def start_clocks(
    review: Review, keys: Iterable[str], now: float, *, place: Place | None = None
) -> Transition:
    """The first card of these actions was posted, so their clocks start, if they wait for it. Raises Refused
    if none of them waits.
    """
    delivered = frozenset(keys)
    started = {
        action.key: action.model_copy(update={"delivered_at": now})
        for action in review.actions
        if action.key in delivered and action.is_pending and action.clock_start is None
    }
    if not started or review.status != "pending":
        raise Refused("not_due", "No clock waits for this.")
    event = make_event("delivered", review, now, started, place=place)
    return Transition(with_actions(review, started, now), event)


def _is_due(time: float | None, now: float) -> bool:
    return time is not None and time <= now


def _take_due_steps(action: Action, now: float) -> Action:
    """Take all steps that are due, in order."""
    while _is_due(next_step_at(action), now):
        action = take_step(action, None, now)
    return action


def _expire(action: Action, now: float) -> Action:
    expire = action.route.expire
    assert expire is not None  # is_late was true
    decision = Decision(
        type=expire.decision,
        by=None,
        at=now,
        revision=action.revision,
        digest=action.digest,
        message=expire.message,
    )
    return action.model_copy(update={"decision": decision})
