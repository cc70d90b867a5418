"""The reviews of a digest for one person, one on each page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from hitl_core.errors import Refused
from hitl_core.model import Action, Review, Reviewer
from hitl_core.review import WHOLE_REVIEW, pending_actions
from hitl_core.store import Digest

from ... import refusals
from ...card import Card, digest_state, page_keys, review_pages
from ...offload import offload_drawing
from ..access import ReviewAccess
from ..reply import PermittedSnapshot
from .action_pages import ActionPage, action_page, needs_others

#: Whether a channel can show a page.
Fits = Callable[[ActionPage], bool]
#: The most reviews that are skipped because this person may not decide on them.
MAX_SKIPPED = 20


class DigestPages:
    """Loads each review and checks the permission as for its own card. Methods raise Refused."""

    def __init__(self, access: ReviewAccess) -> None:
        self._access = access

    async def page(
        self,
        digest_id: str,
        number: int,
        who: Reviewer,
        *,
        next_pending: bool = False,
        fits: Fits | None = None,
    ) -> ActionPage:
        """The waiting review at this page, or the next one that waits for this person. `next_pending`: the
        person has just decided on the review of this page; it is shown again if more of it waits for them,
        or if nothing else does.
        """
        digest = await self._access.digests.load(digest_id)
        number = min(number, len(digest.waiting) - 1)
        found = None
        if next_pending:
            with suppress(Refused):  # the second search says why
                found = await self._find(digest, number, who, skips_others=True)
        at, snapshot, action = found or await self._find(digest, number, who)
        return await self._draw(digest, at, snapshot, action, fits)

    async def card(self, digest_id: str, who: Reviewer) -> Card:
        """The card of the digest's message, if one of its reviews waits for this person."""
        digest = await self._access.digests.load(digest_id)
        await self._find(digest, 0, who)
        return await self._access.digests.draw(digest)

    async def _find(
        self, digest: Digest, number: int, who: Reviewer, *, skips_others: bool = False
    ) -> tuple[int, PermittedSnapshot, Action]:
        """The first review that waits for this person, from this page on, then from the beginning; and the
        action in it that waits for them. `skips_others`: without those that need only other people.
        """
        count, skipped = len(digest.waiting), 0
        refusal = Refused("gone", refusals.DIGEST_DONE)

        def may_wait(review: Review) -> list[Action]:
            pending = pending_actions(review, digest.place)
            ready = [one for one in pending if not needs_others(review, one, who)]
            others = [] if skips_others else [one for one in pending if one not in ready]
            return [*ready, *others]

        for step in range(count):
            if skipped >= MAX_SKIPPED:
                break
            at = (number + step) % count
            review_id = digest.waiting[at]
            outline = await self._access.digests.outline(review_id)
            if outline is None or not may_wait(outline):
                continue
            try:
                # Nobody asked for this review, so a refusal is not recorded in its audit.
                one = await self._access.load_permitted(review_id, [WHOLE_REVIEW], who)
                snapshot = await self._access.check_at_place(one, digest.place)
            except Refused as refused:
                if refused.code in refusals.UNKNOWN_CODES:
                    raise
                refusal, skipped = refused, skipped + 1
                continue
            waiting = may_wait(snapshot.review)
            if (action := await self._access.first_decidable(snapshot, waiting)) is not None:
                return at, snapshot, action
            skipped += bool(waiting)
        raise refusal

    async def _draw(
        self,
        digest: Digest,
        at: int,
        snapshot: PermittedSnapshot,
        action: Action,
        fits: Fits | None,
    ) -> ActionPage:
        review, place = snapshot.review, digest.place
        first = page_keys(review, place).index(action.key)
        count, more = len(digest.waiting), len(pending_actions(review, place)) - 1

        def in_digest(page: ActionPage) -> ActionPage:
            return replace(
                page,
                number=at,
                state=digest_state(at, count, more),
                buttons=review_pages(digest.id, at, count),
                digest=digest.id,
            )

        def has_room(page: ActionPage) -> bool:
            return fits is None or fits(in_digest(page))

        def draw() -> ActionPage:
            return in_digest(action_page(review, place, first, has_room, held=snapshot.held))

        return await offload_drawing(review, draw)
