"""Makes a review older, so that no test waits for time to pass."""

from __future__ import annotations

from uuid import uuid4

from hitl_core.model import Action, Event, Review
from hitl_core.review.service import Reviews
from hitl_core.review.transition import Transition


async def age(reviews: Reviews, review_id: str, seconds: float) -> None:
    """Moves all times of the review into the past by `seconds`."""

    def older(review: Review, now: float) -> Transition:
        update = {
            "created_at": review.created_at - seconds,
            "actions": tuple(_older(action, seconds) for action in review.actions),
        }
        event = Event(kind="awaited", review_id=review.id, at=now)  # not shown anywhere
        return Transition(review.model_copy(update=update), event)

    await reviews.change(review_id, f"age:{uuid4().hex}", older)


def _older(action: Action, seconds: float) -> Action:
    return action.model_copy(
        update={
            "submitted_at": action.submitted_at - seconds,
            "delivered_at": action.delivered_at and action.delivered_at - seconds,
            "reminded": tuple(at - seconds for at in action.reminded),
            "votes": tuple(v.model_copy(update={"at": v.at - seconds}) for v in action.votes),
            "edits": tuple(e.model_copy(update={"at": e.at - seconds}) for e in action.edits),
            "escalations": tuple(
                e.model_copy(update={"at": e.at - seconds}) for e in action.escalations
            ),
        }
    )
