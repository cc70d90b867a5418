"""What keeps a review from being shown at one of its places: reported to the people who run the bot, and
noted with the review, so that its other cards, Home and `hitl reviews show` say it.
"""

from __future__ import annotations

from contextlib import suppress

from hitl_core.errors import Refused
from hitl_core.model import Place, Review
from hitl_core.review import delivery_problems
from hitl_core.review.service import Reviews

from ..channels.contract import Channel, ChannelError, NotFound
from .health import Health


class DeliveryProblems:
    """Methods raise StoreUnavailable."""

    def __init__(self, reviews: Reviews, channel: Channel, health: Health) -> None:
        self._reviews, self._channel, self._health = reviews, channel, health

    async def report(
        self, review: Review, place: Place, error: ChannelError, *, too_few: bool = False
    ) -> None:
        """Why it can't be shown there, or who may decide there is not known. Of a look-up the channel has
        reported that it fails, and of one card its lane does. `too_few`: it is shown there, and can't be
        approved.
        """
        why, name = str(error), self._channel.name_of(place)
        if too_few:
            # As the lane calls it, which says when this is over.
            subject = f"{review.id} at {place}"
            self._health.report("delivery", subject, undecidable_text(review.id, name, why))
        elif isinstance(error, NotFound):
            self._health.report("place", place, unusable_text(name, why))
        with suppress(Refused):
            await self._reviews.change(
                review.id,
                f"trouble:{place}:{review.version}",
                lambda seen, now: delivery_problems.record_delivery_problem(
                    seen, place, why, now, is_shown=too_few
                ),
            )

    async def resolve(self, review: Review, place: Place) -> None:
        """It is shown, or need not be."""
        self._health.resolve("place", place)
        if place in review.troubles:
            with suppress(Refused):
                await self._reviews.change(
                    review.id,
                    f"trouble-over:{place}:{review.version}",
                    lambda seen, now: delivery_problems.end_delivery_problem(seen, place, now),
                )


def unusable_text(name: str, why: str) -> str:
    """For the people who run the bot."""
    return (
        f"Reviews for {name} can't be shown there: {why}. Create it, or invite the bot there; or mend the"
        " policy, and decide or cancel what waits with `hitl reviews`."
    )


def undecidable_text(review_id: str, name: str, why: str) -> str:
    """For the people who run the bot."""
    return (
        f"The review {review_id} in {name} can't be approved: {why}. Mend the policy for the reviews to come,"
        " and reject or cancel this one."
    )
