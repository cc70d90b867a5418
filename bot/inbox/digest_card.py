"""Digests for people: which reviews one has, and its card."""

from __future__ import annotations

import logging

from hitl_core.errors import Refused, ReviewNotFound, StoreError, StoreUnavailable
from hitl_core.model import Review
from hitl_core.review import Reviews
from hitl_core.store import Digest

from .. import click_budget, refusals
from ..card import MAX_LINES, Card, build_digest
from ..people import waiting_actions

log = logging.getLogger(__name__)


class DigestAccess:
    """Methods raise Refused. A digest permits nothing: each of its reviews is checked when it is opened."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def load(self, digest_id: str) -> Digest:
        try:
            async with click_budget.timeout("load"):
                digest = await self._reviews.store.digest(digest_id)
        except (TimeoutError, StoreUnavailable, StoreError) as error:
            log.warning("the digest %s could not be read: %s", digest_id, error)
            raise Refused("unavailable", refusals.STORE_UNAVAILABLE) from error
        if digest is None:
            raise Refused("gone", refusals.DIGEST_DONE)
        return digest

    async def card(self, digest_id: str) -> Card:
        """What its message shows, for people who have it."""
        digest = await self.load(digest_id)
        try:
            async with click_budget.timeout("load"):
                return await draw_digest(self._reviews, digest)
        except (TimeoutError, StoreUnavailable, StoreError) as error:
            log.warning("the digest %s could not be drawn: %s", digest_id, error)
            raise Refused("unavailable", refusals.STORE_UNAVAILABLE) from error


async def draw_digest(reviews: Reviews, digest: Digest) -> Card:
    """Raises StoreUnavailable, StoreError."""
    first: list[Review] = []
    for review_id in digest.waiting:
        try:
            review = (await reviews.load(review_id)).review
        except ReviewNotFound:
            continue
        if waiting_actions(review, digest.place):
            first.append(review)
        if len(first) == MAX_LINES:
            break
    count = len(digest.waiting)
    return build_digest(digest.id, digest.place, digest.agent, first, count, digest.total)
