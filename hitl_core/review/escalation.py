"""Where an action goes when those who were asked don't decide, or can't be asked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hitl_core.errors import Refused
from hitl_core.model import Action, Escalation, Grant, Place, Review, Reviewer
from hitl_core.review.due import is_late
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
    """Take the next step of every chain that stands at `place` and still waits. `why` is a word of the
    person's.

    `taken` is how many steps the card showed, None for who saw no card: two people who press at once take
    one step.
    """
    check_not_cancelled(review)
    here = [a for a in review.actions if place in a.places]
    pending = [a for a in here if a.is_pending]
    if not pending:
        raise Refused("already_decided", "Everything here is decided already.")
    waiting = [a for a in pending if not is_late(a, now)]
    if not waiting:
        raise Refused("expired", "The time to decide is over.")
    why = (why or "").strip() or None
    stepped = {a.key: take_step(a, by, now, why) for a in waiting if a.next_step is not None}
    if not stepped or (steps_on_card is not None and count_steps(here) > steps_on_card):
        where = ", ".join(_place_names(waiting[0].places[1:])) or "nobody else"
        raise Refused("nothing_to_escalate", f"This was escalated already: {where} can decide too.")
    return apply_escalations(review, stepped, now, by=by, why=why, place=place)


def use_fallback(review: Review, place: Place, why: str, now: float) -> Transition:
    """Show what waits at a place that can't be reached in its fallback, and say why. This gives nobody a
    right to decide. Raises Refused where none of it has a fallback that it doesn't stand in already.
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
        raise Refused("no_fallback", f"Nothing that waits in {place} has anywhere else to go.")
    return apply_escalations(review, actions, now, why=why, place=place, is_fallback=True)


def replace_deciders(
    review: Review,
    undecidable: Mapping[str, tuple[Grant, ...]],
    place: Place,
    why: str,
    now: float,
) -> Transition:
    """Nobody is left who may decide these actions, by their keys and the grants that were looked up: each
    takes the next step of its chain, and after the last one the members of its fallback may decide. Raises
    Refused `changed` where other people may decide them by now, and `no_fallback` where none has a way left.
    """
    check_not_cancelled(review)
    waiting = [
        action
        for action in review.actions
        if action.is_pending and action.grants == undecidable.get(action.key)
    ]
    if not waiting:
        raise Refused("changed", "Others may decide by now.")
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
        raise Refused("no_fallback", f"Nothing that waits in {place} has anywhere else to go.")
    return apply_escalations(review, opened, now, why=why, place=place, is_fallback=True)


def count_steps(here: Iterable[Action]) -> int:
    """Of all chains that stand at one place, decided or not: it only grows."""
    return sum(len(action.escalations) for action in here)


def take_step(action: Action, by: Reviewer | None, now: float, why: str | None = None) -> Action:
    """The next step of its chain, which must have one."""
    index = action.next_step
    assert index is not None  # every caller looked
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
    """The review with these actions, which have just got some places more: each is one part of the event."""
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
    """By their names; ids say nothing to people."""
    targets = [place.partition(":")[2] for place in places]
    return list(dict.fromkeys(each if each.startswith("#") else "others" for each in targets))
