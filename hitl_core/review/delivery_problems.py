"""What happens if a place can't show a review, or if nobody who may decide is left. Pure.

The problem is recorded for people and operators, and the actions are shown at their fallback place too.
"""

from __future__ import annotations

from collections.abc import Mapping

from hitl_core.errors import Refused
from hitl_core.model import DeliveryProblem, Escalation, Event, Grant, Place, Review
from hitl_core.review.escalation import add_escalation, apply_escalations, take_step
from hitl_core.review.transition import Transition, check_not_cancelled, make_event

#: The longest reason that is stored, in characters.
MAX_REASON = 500


def record_delivery_problem(
    review: Review, place: Place, why: str, now: float, *, is_shown: bool = False
) -> Transition:
    """Only the first reason is kept until the problem is over. Otherwise two alternating reasons would update
    the card again and again. Raises Refused if the place already has a problem, or if no action waits there.
    """
    waiting = any(action.is_pending and place in action.places for action in review.actions)
    if place in review.troubles or not waiting or review.cancelled is not None:
        raise Refused("unchanged", "Nothing to record: a problem is recorded, or no action waits.")
    problems = {
        **review.troubles,
        place: DeliveryProblem(why=why[:MAX_REASON], since=now, is_shown=is_shown),
    }
    return _with_problems(
        review, problems, make_event("unreachable", review, now, why=why, place=place)
    )


def end_delivery_problem(review: Review, place: Place, now: float) -> Transition:
    """Raises Refused if the place has no problem."""
    if place not in review.troubles:
        raise Refused("unchanged", "This place has no problem.")
    problems = {at: problem for at, problem in review.troubles.items() if at != place}
    return _with_problems(review, problems, make_event("reachable", review, now, place=place))


def use_fallback(review: Review, place: Place, why: str, now: float) -> Transition:
    """Show the pending actions of an unreachable place in their fallback places too. `why` is the problem.
    This gives nobody the right to decide. Raises Refused if no action has a fallback in which it is not shown
    yet.
    """
    check_not_cancelled(review)
    actions = {
        action.key: add_escalation(action, Escalation(to=to, at=now, by=None, why=why))
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
        action.key: add_escalation(action, Escalation(to=to, at=now, by=None, why=why, open=True))
        for action in waiting
        if (to := action.route.fallback) is not None
        and not any(one.open for one in action.escalations)
    }
    if not opened:
        raise Refused(
            "no_fallback", f"No action that waits in {place} has a step or fallback left."
        )
    return apply_escalations(review, opened, now, why=why, place=place, is_fallback=True)


def _with_problems(
    review: Review, problems: dict[Place, DeliveryProblem], event: Event
) -> Transition:
    return Transition(review.model_copy(update={"troubles": problems}), event)
