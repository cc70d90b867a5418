"""Checks a shown card: whether its place can still be used, whether somebody may still decide there, and
whether somebody has joined its group.
"""

from __future__ import annotations

import logging

from hitl_core.model import Place, Snapshot
from hitl_core.review import Reviews

from ..channels.contract import ChannelError, NotFound, RateLimited
from ..channels.registry import Channels
from ..health import DeliveryProblems
from ..people import Recipients
from .card_sync import unswept_posts
from .fallback import Fallback

log = logging.getLogger(__name__)


class ShownDeciders:
    """Methods raise StoreUnavailable and ReviewNotFound."""

    def __init__(
        self,
        reviews: Reviews,
        channels: Channels,
        recipients: Recipients,
        fallback: Fallback,
        problems: DeliveryProblems,
    ) -> None:
        self._reviews, self._channels, self._recipients = reviews, channels, recipients
        self._fallback, self._problems = fallback, problems

    async def find_flaw(self, place: Place) -> ChannelError | None:
        """Why no card can be shown at this place now, or why that is unknown; None if a card can be shown.
        Raises RateLimited.
        """
        try:
            await self._channels.of_place(place).check_place(place)
        except RateLimited:
            raise
        except ChannelError as error:
            return error
        return None

    async def check(self, snapshot: Snapshot, place: Place, flaw: ChannelError | None) -> None:
        """If nobody may decide what waits at this place: pass it on to other people, or record a problem.
        The problem ends when somebody may decide. If it is unknown who may decide, nothing happens. `flaw`:
        see `find_flaw`.
        """
        review = snapshot.review
        try:
            if flaw is not None:
                raise flaw.with_traceback(None)
            if (few := await self._recipients.check(snapshot, place)) is not None:
                raise few
        except NotFound as error:
            if not await self._fallback.pass_on(snapshot, place, error):
                people = flaw is None
                await self._problems.report(
                    review, place, error, undecidable=people, is_shown=people
                )
        except ChannelError as error:
            log.info("it is not known who may decide at %s: %s", place, error)
        else:
            await self._problems.resolve_shown(review, place)
            problem = review.delivery_problems.get(place)
            # If it works now, its problem is over.
            has_problem = problem is not None and not problem.is_shown
            if has_problem or await self._has_new_recipient(snapshot, place):
                await self._reviews.store.redraw(review.id, place, "card")

    async def _has_new_recipient(self, snapshot: Snapshot, place: Place) -> bool:
        """Whether somebody joined the group at this place who has no card yet. Each of them is tried once:
        who can't be reached then is tried again with the next change.
        """
        try:
            copies = (await self._recipients.copies(snapshot, place)).places
        except ChannelError as error:
            log.info("it is not known who is at %s: %s", place, error)
            return False
        missing = [copy for copy in copies if copy not in snapshot.posts]
        return any(not unswept_posts(snapshot, copy) for copy in missing)
