"""Digests for people: loads a digest with its reviews, and draws its card."""

from __future__ import annotations

import asyncio
import logging

from hitl_core.errors import DigestUnreadable, Refused, ReviewNotFound, StoreError
from hitl_core.model import Review
from hitl_core.review import Reviews, pending_actions
from hitl_core.store import Digest

from .. import refusals
from ..card import MAX_LINES, Card, build_digest
from .store_timeout import store_timeout

log = logging.getLogger(__name__)


class DigestAccess:
    """Loads digests for a click. Methods raise Refused. A digest gives no permission: each of its reviews is
    checked when it is opened.
    """

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def load(self, digest_id: str) -> Digest:
        """The digest. Raises Refused if nothing waits in it."""
        async with store_timeout(digest_id):
            try:
                digest = await self._reviews.store.digest(digest_id)
            except DigestUnreadable:  # the outbox dissolves it: its reviews get cards
                digest = None
        if digest is None or not digest.waiting:
            raise Refused("gone", refusals.DIGEST_DONE)
        return digest

    async def draw(self, digest: Digest) -> Card:
        async with store_timeout(digest.id):
            return await draw_digest(self._reviews, digest)

    async def outline(self, review_id: str) -> Review | None:
        """The review without its arguments; None if it can't be read."""
        async with store_timeout(review_id):
            try:
                return (await self._reviews.load_outline(review_id)).review
            except (ReviewNotFound, StoreError):
                return None


async def draw_digest(reviews: Reviews, digest: Digest) -> Card:
    """The card of a digest. Reviews that can't be read are only counted, so that they don't stop the others.
    Only the arguments that are shown are loaded. Raises StoreUnavailable.
    """
    first: list[Review] = []
    for review_id in digest.waiting:
        try:
            review = (await reviews.load_outline(review_id)).review
        except ReviewNotFound:
            continue
        except StoreError as error:
            log.error("review %s can't be read: %s", review_id, error)
            continue
        if waiting := pending_actions(review, digest.place):
            shown = f"{waiting[0].key}:{waiting[0].revision}"
            args = await reviews.store.load_arguments(review_id, [shown])
            if shown in args:
                first.append(review.model_copy(update={"args": args}))
        if len(first) == MAX_LINES:
            break
    count = len(digest.waiting)
    return await asyncio.to_thread(
        build_digest, digest.id, digest.place, digest.agent, first, count, digest.total
    )
