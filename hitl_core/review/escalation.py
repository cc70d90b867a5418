"""Shows an action in one more place: by escalation, or by the fallback for a place that fails. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hitl_core.errors import Refused
from hitl_core.model import Action, Escalation, Grant, Place, Review, Reviewer
from hitl_core.review.due_times import is_late
from hitl_core.review.transition import Transition, check_not_cancelled, make_event, with_actions


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


def use_fallback(review: Review, place: Place, why: str, now: float) -> Transition:
    """Show the pending actions of an unreachable place in their fallback places too. `why` is the problem.
    This gives nobody the right to decide. Raises Refused if no action has a fallback in which it is not shown
    yet.
    """
    check_not_cancelled(review)
    actions = {
        action.key: _add_escalation(action, Escalation(to=to, at=now, by=None, why=why))
        for action in review.actions
        if action.is_pending
        and place in action.places
        and (to := action.route.fallback) is not None
        and to not in action.places
    }
    if not actions:
        raise Refused("no_fallback", f"No action that waits in {place} has another fallback.")
    return apply_escalations(review, actions, now, why=why, place=place, is_fallback=True)


def replace_deciders(
    review: Review,
    undecidable: Mapping[str, tuple[Grant, ...]],
    place: Place,
    why: str,
    now: float,
) -> Transition:
    """None of the people who may decide these actions is left. Each action takes its next escalation step.
    After the last step, the members of its fallback may decide.

    `undecidable` has the grants that were looked up, by the actions' keys. Raises Refused: `changed` if other
    people may decide now, `no_fallback` if no action has a step or fallback left.
    """
    check_not_cancelled(review)
    waiting = [
        action
        for action in review.actions
        if action.is_pending and action.grants == undecidable.get(action.key)
    ]
    if not waiting:
        raise Refused("changed", "Other people may decide now.")
    if stepped := {
        action.key: take_step(action, None, now, why)
        for action in waiting
        if action.next_step is not None
    }:
        return apply_escalations(review, stepped, now, why=why, place=place)
    opened = {
        action.key: _add_escalation(action, Escalation(to=to, at=now, by=None, why=why, open=True))
        for action in waiting
        if (to := action.route.fallback) is not None
        and not any(one.open for one in action.escalations)
    }
    if not opened:
        raise Refused(
            "no_fallback", f"No action that waits in {place} has a step or fallback left."
        )
    return apply_escalations(review, opened, now, why=why, place=place, is_fallback=True)


def count_steps(here: Iterable[Action]) -> int:
    """The escalations of all actions at one place, decided or not. This number only grows."""
    return sum(len(action.escalations) for action in here)


def take_step(action: Action, by: Reviewer | None, now: float, why: str | None = None) -> Action:
    """Take the next escalation step. The action must have one."""
    index = action.next_step
    assert index is not None  # every caller has checked it
    to = action.route.escalate[index].to
    return _add_escalation(action, Escalation(to=to, at=now, by=by, why=why, step=index))


def apply_escalations(
    review: Review,
    actions: dict[str, Action],
    now: float,
    *,
    by: Reviewer | None = None,
    why: str | None = None,
    place: Place | None = None,
    is_fallback: bool = False,
) -> Transition:
    """The review with these actions, which have new escalations. The event lists each new place."""
    steps = [
        (action.key, escalation.to)
        for before in review.actions
        if (action := actions.get(before.key)) is not None
        for escalation in action.escalations[len(before.escalations) :]
    ]
    kind = "undeliverable" if is_fallback else "escalated"
    keys, what = zip(*steps, strict=True)
    event = make_event(kind, review, now, keys, by=by, what=what, why=why, place=place)
    return Transition(with_actions(review, actions, now), event)


def _add_escalation(action: Action, escalation: Escalation) -> Action:
    return action.model_copy(update={"escalations": (*action.escalations, escalation)})


def _place_names(places: Iterable[Place]) -> list[str]:
    """Channel names for people to read. An id would not help them, so it becomes "others"."""
    targets = [place.target for place in places]
    return list(dict.fromkeys(each if each.startswith("#") else "others" for each in targets))
