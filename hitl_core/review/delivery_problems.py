"""Why something of a review can't be shown where it waits, for people and operators to read. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import DeliveryProblem, Event, Place, Review
from hitl_core.review.transition import Transition, make_event

#: The longest reason that is kept.
MAX_REASON = 500


def record_delivery_problem(
    review: Review, place: Place, why: str, now: float, *, is_shown: bool = False
) -> Transition:
    """The first reason stays until the trouble is over: what alternates draws no card again and again. Raises
    Refused where one is noted, or nothing waits there.
    """
    waiting = any(action.is_pending and place in action.places for action in review.actions)
    if place in review.troubles or not waiting or review.cancelled is not None:
        raise Refused("unchanged", "This is noted already.")
    problems = {
        **review.troubles,
        place: DeliveryProblem(why=why[:MAX_REASON], since=now, is_shown=is_shown),
    }
    return _with_problems(
        review, problems, make_event("unreachable", review, now, why=why, place=place)
    )


def end_delivery_problem(review: Review, place: Place, now: float) -> Transition:
    """Raises Refused where there is none."""
    if place not in review.troubles:
        raise Refused("unchanged", "There is no trouble there.")
    problems = {at: trouble for at, trouble in review.troubles.items() if at != place}
    return _with_problems(review, problems, make_event("reachable", review, now, place=place))


def _with_problems(
    review: Review, problems: dict[Place, DeliveryProblem], event: Event
) -> Transition:
    return Transition(review.model_copy(update={"troubles": problems}), event)
