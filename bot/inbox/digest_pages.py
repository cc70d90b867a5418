"""The reviews of a digest one by one, for a person: a page for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hitl_core.errors import Refused
from hitl_core.model import Reviewer
from hitl_core.store import Digest

from .. import refusals
from ..card import digest_state, page_keys, review_pages
from ..offload import offload_drawing
from ..people import waiting_actions
from .access import WHOLE_REVIEW, ReviewAccess
from .action_pages import ActionPage, action_page
from .reply import PermittedSnapshot

#: Whether a channel can show a page.
Fits = Callable[[ActionPage], bool]
#: How many reviews that this person may not decide, or that were decided meanwhile, are passed over.
MAX_SKIPPED = 20


class DigestPages:
    """Each review is loaded and its permission checked as from its own card. Methods raise Refused."""

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
        """The review at this page of those that wait, or the next one that waits for this person. With
        `next_pending` the page's own review was just decided: it is shown again if more of it waits.
        """
        digest = await self._access.digests.load(digest_id)
        if not digest.waiting:
            raise Refused("gone", refusals.DIGEST_DONE)
        count = len(digest.waiting)
        number = min(number, count - 1)
        refusal = Refused("gone", refusals.DIGEST_DONE)
        for step in range(min(count, MAX_SKIPPED)):
            at = (number + step) % count
            try:
                # Nobody asked for this review, so a refusal is no entry of its audit.
                one = await self._access.load_permitted(digest.waiting[at], [WHOLE_REVIEW], who)
                snapshot = await self._access.check_there(one, digest.place)
            except Refused as refused:
                if refused.code in ("unavailable", "unknown_members"):
                    raise
                refusal = refused
                continue
            if waiting_actions(snapshot.review, digest.place):
                return await self._draw(digest, at, snapshot, fits)
        raise refusal

    async def _draw(
        self, digest: Digest, at: int, snapshot: PermittedSnapshot, fits: Fits | None
    ) -> ActionPage:
        review, place = snapshot.review, digest.place
        waiting = {action.key for action in waiting_actions(review, place)}
        keys = page_keys(review, place)
        first = next(n for n, key in enumerate(keys) if key in waiting)

        count, more = len(digest.waiting), len(waiting) - 1

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
            return in_digest(action_page(review, place, first, has_room))

        return await offload_drawing(review, draw)
