"""Reminders of pending actions and of calls in doubt: when they are due, and that they were sent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_core.errors import Refused
from hitl_core.model import Action, Call, Review
from hitl_core.review.transition import Transition, make_event, with_actions

#: The default time between reminders, in seconds, after the last escalation step of an action without a
#: deadline: it would otherwise wait silently.
LAST_STEP_REMINDER = 4 * 3600.0
#: After this many reminders there is at most one a day.
DAILY_AFTER = 50
DAY = 86_400.0


def remind(review: Review, pending: Iterable[Action], now: float) -> Transition:
    """Remind of the pending actions and the calls in doubt that are due. Raises Refused if none is."""
    due = [a for a in pending if is_due(remind_at(a), now)]
    doubts = [call.key for call in _open_doubts(review) if is_due(_ask_again_at(review, call), now)]
    if not due and not doubts:
        raise Refused("not_due", "Nothing is due.")
    actions = {a.key: a.model_copy(update={"reminded": (*a.reminded, now)}) for a in due}
    runs = dict(review.runs)
    for key in doubts:
        runs[key] = runs[key].model_copy(update={"reminded": (*runs[key].reminded, now)})
    event = make_event("reminded", review, now, dict.fromkeys((*actions, *doubts)))
    return Transition(with_actions(review, actions, now).model_copy(update={"runs": runs}), event)


def is_due(time: float | None, now: float) -> bool:
    return time is not None and time <= now


def remind_at(action: Action) -> float | None:
    """When the next reminder is due: one interval after the last notice to these people."""
    every = _reminder_interval(action)
    if every is None or action.clock_start is None:
        return None
    last_notices = (action.clock_start, *(e.at for e in action.escalations), *action.reminded)
    return max(last_notices) + _pause(every, action.reminded)


def _pause(every: float, reminded: Sequence[float]) -> float:
    return every if len(reminded) < DAILY_AFTER else max(every, DAY)


def doubt_reminder_times(review: Review) -> list[float | None]:
    """When the next reminder of each call in doubt is due."""
    return [_ask_again_at(review, call) for call in _open_doubts(review)]


def _open_doubts(review: Review) -> tuple[Call, ...]:
    """The calls in doubt about which people are asked."""
    is_over = review.cancelled is not None or review.status == "done"
    return () if is_over else review.calls_in_doubt


def _ask_again_at(review: Review, call: Call) -> float | None:
    """When people are asked again what became of a call in doubt: as often as its rule reminds. It has no
    steps and no deadline, so where the rule has one of these, it must not wait silently.
    """
    run, route = review.runs[call.key], (review.action(call.key) or call).route
    every = route.remind or (LAST_STEP_REMINDER if route.escalate or route.expire else None)
    if every is None:
        return None
    last_notices = (run.at, *(e.at for e in run.escalations), *run.reminded)
    return max(last_notices) + _pause(every, run.reminded)


def _reminder_interval(action: Action) -> float | None:
    route = action.route
    if route.remind is not None:
        return route.remind
    ended = route.escalate and action.next_step is None and route.expire is None
    return LAST_STEP_REMINDER if ended else None
