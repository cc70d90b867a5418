"""What happens while nobody decides: escalation, reminders and the deadline, and when they are due. Pure.

An escalation shows an action in one more place: automatically, or because a person asks for it. All times are
in seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hitl_core.errors import Refused
from hitl_core.model import Action, Escalation, Place, Review, Reviewer, Run
from hitl_core.review.reminders import doubt_reminder_times, is_due, remind, remind_at
from hitl_core.review.transition import (
    Transition,
    check_not_cancelled,
    decide_without_votes,
    make_event,
    with_actions,
)


def escalate(
    review: Review,
    place: Place,
    by: Reviewer,
    now: float,
    *,
    steps_on_card: int | None = None,
    why: str | None = None,
) -> Transition:
    """Take the next escalation step of every pending action at `place`. `why` is the person's text.

    `steps_on_card` is the number of steps that the person's card showed; None means that the person saw no
    card. With it, two people who click at the same time take one step, not two.
    """
    check_not_cancelled(review)
    here = [a for a in review.actions if place in a.places]
    pending = [a for a in here if a.is_pending]
    if not pending:
        raise Refused("already_decided", "Everything here is already decided.")
    waiting = [a for a in pending if not is_late(a, now)]
    if not waiting:
        raise Refused("expired", "The time to decide is over.")
    why = (why or "").strip() or None
    stepped = {a.key: take_step(a, by, now, why) for a in waiting if a.next_step is not None}
    if not stepped or (steps_on_card is not None and count_steps(here) > steps_on_card):
        where = ", ".join(_place_names(waiting[0].places[1:])) or "nobody else"
        raise Refused("nothing_to_escalate", f"This was already escalated: {where} can decide too.")
    return apply_escalations(review, stepped, now, by=by, why=why, place=place)


def count_steps(here: Iterable[Action]) -> int:
    """The escalations of all actions at one place, decided or not. This number only grows."""
    return sum(len(action.escalations) for action in here)


def take_step(action: Action, by: Reviewer | None, now: float, why: str | None = None) -> Action:
    """Take the next escalation step. The action must have one."""
    index = action.next_step
    assert index is not None  # every caller has checked it
    to = action.route.escalate[index].to
    return add_escalation(action, Escalation(to=to, at=now, by=by, why=why, step=index))


def apply_escalations(
    review: Review,
    actions: dict[str, Action],
    now: float,
    *,
    runs: Mapping[str, Run] | None = None,
    by: Reviewer | None = None,
    why: str | None = None,
    place: Place | None = None,
    is_fallback: bool = False,
) -> Transition:
    """The review with these actions and runs, which have new escalations. The event lists each new place."""
    runs = runs or {}
    steps = [
        (action.key, escalation.to)
        for before in review.actions
        if (action := actions.get(before.key)) is not None
        for escalation in action.escalations[len(before.escalations) :]
    ]
    steps += [
        (key, escalation.to)
        for key, run in runs.items()
        for escalation in run.escalations[len(review.runs[key].escalations) :]
    ]
    kind = "undeliverable" if is_fallback else "escalated"
    keys, what = zip(*steps, strict=True)
    event = make_event(kind, review, now, keys, by=by, what=what, why=why, place=place)
    after = with_actions(review, actions, now)
    return Transition(after.model_copy(update={"runs": {**review.runs, **runs}}), event)


def add_escalation(action: Action, escalation: Escalation) -> Action:
    return action.model_copy(update={"escalations": (*action.escalations, escalation)})


def apply_due(review: Review, now: float) -> Transition:
    """Do the first of these that is due, also if it is late: expire, escalate, remind. Raises Refused if
    nothing is due.
    """
    pending = [a for a in review.actions if a.is_pending] if review.status == "pending" else []
    if late := {a.key: _expire(a, now) for a in pending if is_late(a, now)}:
        kinds = [a.decision.type for a in late.values() if a.decision]
        event = make_event("expired", review, now, late, what=kinds)
        return Transition(with_actions(review, late, now), event)
    if stepped := {a.key: _take_due_steps(a, now) for a in pending if is_due(next_step_at(a), now)}:
        return apply_escalations(review, stepped, now)
    return remind(review, pending, now)


def start_clocks(review: Review, keys: Iterable[str], place: Place, now: float) -> Transition:
    """The first card of these actions was posted, at `place`, so their clocks start, if they wait for it.
    Raises Refused if none of them waits.
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


def _take_due_steps(action: Action, now: float) -> Action:
    """Take all steps that are due, in order."""
    while is_due(next_step_at(action), now):
        action = take_step(action, None, now)
    return action


def _expire(action: Action, now: float) -> Action:
    expire = action.route.expire
    assert expire is not None  # is_late was true
    return decide_without_votes(action, expire.decision, expire.message, None, now)


def due_at(review: Review) -> float | None:
    """When a bot must act next: the earliest deadline, escalation or reminder, or the end of the lease."""
    if review.status == "claimed" and review.lease:
        return review.lease.until
    pending = [a for a in review.actions if a.is_pending] if review.status == "pending" else []
    times = [
        time
        for action in pending
        for time in (deadline(action), next_step_at(action), remind_at(action))
    ]
    times += doubt_reminder_times(review)
    return min((time for time in times if time is not None), default=None)


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


#: How much earlier than its deadline a card should be shown, in seconds. It is also for how long after its
#: submission other cards may pass one that has no deadline.
SHOW_BEFORE = 3600.0


def show_by(review: Review) -> float:
    """The order in which cards are shown for the first time: by submission, but what ends or escalates soon
    passes others. A card is never passed by one that was submitted SHOW_BEFORE later, so none starves.
    """
    times = [
        time - SHOW_BEFORE
        for action in review.actions
        if action.is_pending
        for time in (deadline(action), next_step_at(action))
        if time is not None
    ]
    return min([review.created_at, *times])


def _place_names(places: Iterable[Place]) -> list[str]:
    """Channel names for people to read. An id would not help them, so it becomes "others"."""
    targets = [place.target for place in places]
    return list(dict.fromkeys(each if each.startswith("#") else "others" for each in targets))
