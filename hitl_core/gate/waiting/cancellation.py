"""How an agent stops its own review. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.gate.waiting.lease import check_agent
from hitl_core.model import Review
from hitl_core.review import Transition, commands


def cancel(review: Review, now: float, *, agent: str, reason: str | None) -> Transition:
    """See `Gate.cancel`."""
    check_agent(review, agent)
    return commands.cancel(review, None, reason, now)


def withdraw(
    review: Review, now: float, *, agent: str, process: str, reason: str | None
) -> Transition:
    """See `Gate.withdraw`. `process` waits for the review from then on."""
    check_agent(review, agent)
    if review.status != "pending" and review.cancelled is None:
        raise Refused(
            "busy", f"Review {review.id} can't be withdrawn: all of its calls are already decided."
        )
    transition = commands.cancel(review, None, reason, now)
    cancelled_review = transition.review.model_copy(update={"waiting_process": process})
    return transition._replace(review=cancelled_review)
