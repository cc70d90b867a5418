"""Delivery problems: why a review can't be shown at a place. They are reported to the operators and recorded
in the review, so that its other cards, Homes and `hitl reviews show` show them.
"""

from __future__ import annotations

from contextlib import suppress

from hitl_core.errors import Refused
from hitl_core.model import Place, Review, short_id
from hitl_core.review import Reviews, delivery_problems

from ..channels.contract import ChannelError, LookupFailed, NotFound, RateLimited
from ..channels.registry import Channels, NotConfigured
from .health import Health


class DeliveryProblems:
    """Methods raise StoreUnavailable."""

    def __init__(self, reviews: Reviews, channels: Channels, health: Health) -> None:
        self._reviews, self._channels, self._health = reviews, channels, health

    async def report(
        self,
        review: Review,
        place: Place,
        error: ChannelError,
        *,
        undecidable: bool = False,
        is_shown: bool = False,
    ) -> None:
        """Record the problem in the review. A problem of the place itself is also reported to Health here;
        failing look-ups are reported by the channel, and a failing card by its lane. `undecidable`: the place
        can be used, but too few people are left who may approve. `is_shown`: the card is there nevertheless.
        """
        why, name = str(error), self._channels.name_of(place)
        if undecidable:
            text = undecidable_text(review.id, name, why)
            self._health.report("delivery", delivery_subject(review.id, place), text)
        elif isinstance(error, NotFound):
            self._health.report("place", place, unusable_text(name, error))
        with suppress(Refused):
            await self._reviews.change(
                review.id,
                f"trouble:{place}:{review.version}",
                lambda seen, now: delivery_problems.record_delivery_problem(
                    seen,
                    place,
                    why,
                    now,
                    is_shown=is_shown,
                    is_unknown=isinstance(error, LookupFailed),
                ),
            )

    async def resolve_shown(self, review: Review, place: Place) -> None:
        """The card is there, and enough people may decide now: end the problem."""
        if (problem := review.delivery_problems.get(place)) is not None and problem.is_shown:
            self._health.resolve("delivery", delivery_subject(review.id, place))
            await self.resolve(review, place)

    async def resolve(self, review: Review, place: Place, *, is_reached: bool = True) -> None:
        """End the problem, because the review is shown there, or needs no card there. If it needs none, the
        place was not reached, so other reviews may still wait for it.
        """
        if is_reached:
            self._health.resolve("place", place)
        if place in review.delivery_problems:
            with suppress(Refused):
                await self._reviews.change(
                    review.id,
                    f"trouble-over:{place}:{review.version}",
                    lambda seen, now: delivery_problems.end_delivery_problem(seen, place, now),
                )

    async def resolve_updated(self, review: Review, place: Place, *, waits: bool) -> None:
        """A card that was there is up to date. That says nothing about the place: Slack also updates the
        cards of a bot that was removed from a public channel. So a known problem is only over if a card can
        be shown there, or nothing `waits` for it; if that is unknown, it stays. Raises RateLimited.
        """
        is_usable = True
        if place in review.delivery_problems or self._health.has("place", place):
            try:
                await self._channels.of_place(place).check_place(place)
            except RateLimited:
                raise
            except ChannelError:
                is_usable = False
        if is_usable or not waits:
            await self.resolve(review, place, is_reached=is_usable)


def delivery_subject(review_id: str, place: Place) -> str:
    """The subject of a card that can't be shown. The lane uses it too, so that the lane also ends the
    problem.
    """
    return f"{review_id} at {place}"


def unusable_text(name: str, why: NotFound) -> str:
    """What is wrong and what to do, for the operators."""
    is_ours = not isinstance(why, NotConfigured)
    todo = "Create it or invite the bot there" if is_ours else "Connect the bot to that channel"
    return (
        f"Reviews can't be shown in {name}: {why}. {todo}, or correct the policy and decide or cancel the"
        " waiting reviews with “hitl reviews”."
    )


def undecidable_text(review_id: str, name: str, why: str) -> str:
    """What is wrong and what to do, for the operators."""
    return (
        f"The review {short_id(review_id)} in {name} can't be approved: {why}. Correct the policy for future"
        " reviews, and reject or cancel this one."
    )
