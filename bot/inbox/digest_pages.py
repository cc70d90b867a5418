"""The reviews of a digest for one person, one on each page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hitl_core.errors import Refused
from hitl_core.model import Action, Reviewer
from hitl_core.review import WHOLE_REVIEW, pending_actions
from hitl_core.store import Digest

from .. import refusals
from ..card import Card, digest_state, page_keys, review_pages
from ..offload import offload_drawing
from .access import ReviewAccess
from .action_pages import ActionPage, action_page, needs_others
from .reply import PermittedSnapshot

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
        at, snapshot, action = await self._find(digest, number, who, skips_others=next_pending)
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
        action in it that waits for them. `skips_others`: those of which only others are needed come last.
        """
        count, skipped = len(digest.waiting), 0
        others: tuple[int, PermittedSnapshot, Action] | None = None
        refusal = Refused("gone", refusals.DIGEST_DONE)
        for step in range(count):
            if skipped >= MAX_SKIPPED:
                break
            at = (number + step) % count
            review_id = digest.waiting[at]
            if not await self._access.digests.waits(review_id, digest.place):
                continue
            try:
                # Nobody asked for this review, so a refusal is not recorded in its audit.
                one = await self._access.load_permitted(review_id, [WHOLE_REVIEW], who)
                snapshot = await self._access.check_there(one, digest.place)
            except Refused as refused:
                if refused.code in ("unavailable", "unknown_members"):
                    raise
                refusal, skipped = refused, skipped + 1
                continue
            review, access = snapshot.review, self._access
            pending = pending_actions(review, digest.place)
            ready = [one for one in pending if not needs_others(review, one, who)]
            if (action := await access.first_decidable(snapshot, ready)) is not None:
                return at, snapshot, action
            if (action := await access.first_decidable(snapshot, pending)) is not None:
                if not skips_others:
                    return at, snapshot, action
                others = others or (at, snapshot, action)
            skipped += bool(pending)
        if others is not None:
            return others
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
