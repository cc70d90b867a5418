"""Records why a place can't show a review, for people and operators to read. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import DeliveryProblem, Event, Place, Review
from hitl_core.review.transition import Transition, make_event

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


def _with_problems(
    review: Review, problems: dict[Place, DeliveryProblem], event: Event
) -> Transition:
    return Transition(review.model_copy(update={"troubles": problems}), event)
