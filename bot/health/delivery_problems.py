"""What keeps a review from being shown at one of its places: reported to the people who run the bot, and
noted with the review, so that its other cards, Home and `hitl reviews show` say it.
"""

from __future__ import annotations

from contextlib import suppress

from hitl_core.errors import Refused
from hitl_core.model import Place, Review
from hitl_core.review import state_machine
from hitl_core.review.service import Reviews

from ..channels.contract import Channel, ChannelError, NotFound
from .health import Health


class DeliveryProblems:
    """Methods raise StoreUnavailable."""

    def __init__(self, reviews: Reviews, channel: Channel, health: Health) -> None:
        self._reviews, self._channel, self._health = reviews, channel, health

    async def report(self, review: Review, place: Place, error: ChannelError) -> None:
        """Why it can't be shown there, or who may decide there is not known. Of a look-up the channel has
        reported that it fails, and of one card its lane does.
        """
        why, name = str(error), self._channel.name_of(place)
        if isinstance(error, NotFound):
            self._health.report("place", place, unusable_text(name, why))
        with suppress(Refused):
            await self._reviews.change(
                review.id,
                f"trouble:{place}:{review.version}",
                lambda seen, now: state_machine.record_delivery_problem(seen, place, why, now),
            )

    async def resolve(self, review: Review, place: Place) -> None:
        """It is shown, or need not be."""
        self._health.resolve("place", place)
        if place in review.troubles:
            with suppress(Refused):
                await self._reviews.change(
                    review.id,
                    f"trouble-over:{place}:{review.version}",
                    lambda seen, now: state_machine.end_delivery_problem(seen, place, now),
                )


def unusable_text(name: str, why: str) -> str:
    """For the people who run the bot."""
    return (
        f"Reviews for {name} can't be shown there: {why}. Create it, or invite the bot there; or mend the"
        " policy, and decide or cancel what waits with `hitl reviews`."
    )
