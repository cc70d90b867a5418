"""When the deadline, the next escalation and the next reminder of an action are due. Pure.

All times are in seconds since the epoch.
"""

from __future__ import annotations

from hitl_core.model import Action, Review

#: The default time between reminders, in seconds, after the last escalation step of an action without a
#: deadline: it would otherwise wait silently.
LAST_STEP_REMINDER = 4 * 3600.0
#: After this many reminders there is at most one a day.
DAILY_AFTER = 50
DAY = 86_400.0


def due_at(review: Review) -> float | None:
    """When a bot must act next: the earliest deadline, escalation or reminder, or the end of the lease."""
    if review.status == "claimed" and review.lease:
        return review.lease.until
    if review.status != "pending":
        return None
    times = [
        time
        for action in review.actions
        if action.is_pending
        for time in (deadline(action), next_step_at(action), remind_at(action))
        if time is not None
    ]
    return min(times, default=None)


def deadline(action: Action) -> float | None:
    """When the policy decides; None without a deadline, or before the clock has started. An edit can make it
    earlier, but never later.
    """
    expire = action.route.expire
    if expire is None:
        return None
    own = None if action.clock_start is None else action.clock_start + expire.after
    return min((at for at in (own, action.until) if at is not None), default=None)


def is_late(action: Action, now: float) -> bool:
    end = deadline(action)
    return end is not None and end <= now


def next_step_at(action: Action) -> float | None:
    """When the next escalation is due."""
    step = action.next_step
    if step is None or action.clock_start is None:
        return None
    return action.clock_start + action.route.escalate[step].after


def remind_at(action: Action) -> float | None:
    """When the next reminder is due: one interval after the last notice to these people."""
    every = _reminder_interval(action)
    if every is None or action.clock_start is None:
        return None
    last_notices = (action.clock_start, *(e.at for e in action.escalations), *action.reminded)
    return max(last_notices) + (every if len(action.reminded) < DAILY_AFTER else max(every, DAY))


def _reminder_interval(action: Action) -> float | None:
    route = action.route
    if route.remind is not None:
        return route.remind
    ended = route.escalate and action.next_step is None and route.expire is None
    return LAST_STEP_REMINDER if ended else None
