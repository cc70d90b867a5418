"""What happens if a place can't show a review, or if nobody who may decide is left. Pure.

The problem is recorded for people and operators, and the actions are shown at their fallback place too.
"""

from __future__ import annotations

from collections.abc import Mapping

from hitl_core.errors import Refused
from hitl_core.model import (
    Action,
    DeliveryProblem,
    Escalation,
    Event,
    Grant,
    Place,
    Review,
    Run,
)
from hitl_core.review.escalation import add_escalation, apply_escalations, take_step
from hitl_core.review.open_items import OpenItem, open_items
from hitl_core.review.transition import Transition, check_not_cancelled, make_event

#: The longest reason that is stored, in characters.
MAX_REASON = 500


def record_delivery_problem(
    review: Review,
    place: Place,
    why: str,
    now: float,
    *,
    is_shown: bool = False,
    is_unknown: bool = False,
) -> Transition:
    """Record why a place can't show the review. Only the first reason that is known is kept until the problem
    is over: otherwise two alternating reasons would update the card again and again. Raises Refused if the
    place already has a problem, or if nothing waits there.
    """
    before = review.delivery_problems.get(place)
    is_kept = before is not None and (is_unknown or not before.is_unknown)
    if is_kept or not open_items(review, place):
        raise Refused("unchanged", "Nothing to record: a problem is recorded, or nothing waits.")
    problems = {
        **review.delivery_problems,
        place: DeliveryProblem(
            why=why[:MAX_REASON], since=now, is_shown=is_shown, is_unknown=is_unknown
        ),
    }
    return _with_problems(
        review, problems, make_event("unreachable", review, now, why=why, place=place)
    )


def end_delivery_problem(review: Review, place: Place, now: float) -> Transition:
    """Raises Refused if the place has no problem."""
    if place not in review.delivery_problems:
        raise Refused("unchanged", "This place has no problem.")
    problems = {at: problem for at, problem in review.delivery_problems.items() if at != place}
    return _with_problems(review, problems, make_event("reachable", review, now, place=place))


def use_fallback(review: Review, place: Place, why: str, now: float) -> Transition:
    """Show what waits at an unreachable place in its fallback place too. `why` is the problem. This gives
    nobody the right to decide. Raises Refused if nothing has a fallback in which it is not shown yet.
    """
    check_not_cancelled(review)
    moved = {
        one.key: Escalation(to=one.fallback, at=now, by=None, why=why)
        for one in open_items(review, place)
        if one.fallback is not None and one.fallback not in one.places
    }
    if not moved:
        raise Refused("no_fallback", f"Nothing that waits in {place} has another fallback.")
    return _move(review, moved, now, why, place)


def replace_deciders(
    review: Review,
    undecidable: Mapping[str, tuple[Grant, ...]],
    place: Place,
    why: str,
    now: float,
) -> Transition:
    """Call it when nobody can decide these actions and calls in doubt any more. Each action takes its next
    escalation step. After the last step, and for a call in doubt, the members of the fallback may decide.

    `undecidable` has the grants that were looked up, by key. Raises Refused: `changed` if other people may
    decide now, `no_fallback` if nothing has a step or fallback left.
    """
    check_not_cancelled(review)
    waiting = [one for one in open_items(review) if one.grants == undecidable.get(one.key)]
    if not waiting:
        raise Refused("changed", "Other people may decide now.")
    actions = [one.action for one in waiting if one.action is not None]
    if stepped := {
        action.key: take_step(action, None, now, why)
        for action in actions
        if action.next_step is not None
    }:
        return apply_escalations(review, stepped, now, why=why, place=place)
    opened = {
        one.key: Escalation(to=one.fallback, at=now, by=None, why=why, open=True)
        for one in waiting
        if one.fallback is not None and not any(each.open for each in _escalations(review, one))
    }
    if not opened:
        raise Refused("no_fallback", f"Nothing that waits in {place} has a step or fallback left.")
    return _move(review, opened, now, why, place)


def _escalations(review: Review, item: OpenItem) -> tuple[Escalation, ...]:
    return item.action.escalations if item.action else review.runs[item.key].escalations


def _move(
    review: Review, escalations: Mapping[str, Escalation], now: float, why: str, place: Place
) -> Transition:
    """Show pending actions and calls in doubt at their fallback places too. `escalations` are by key."""
    actions, runs = dict[str, Action](), dict[str, Run]()
    for key, escalation in escalations.items():
        action = review.action(key)
        if action is not None and action.is_pending:
            actions[key] = add_escalation(action, escalation)
        else:
            run = review.runs[key]
            more = (*run.escalations, escalation)
            runs[key] = run.model_copy(update={"escalations": more})
    return apply_escalations(
        review, actions, now, runs=runs, why=why, place=place, is_fallback=True
    )


def _with_problems(
    review: Review, problems: dict[Place, DeliveryProblem], event: Event
) -> Transition:
    return Transition(review.model_copy(update={"delivery_problems": problems}), event)
