"""Forms and pages that a channel shows in place of a message: an update of the message would close them, with
everything that was typed.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from hitl_core.errors import HitlError, safe_message
from hitl_core.model import MessageRef, Reviewer, is_digest_id
from hitl_core.review import Reviews

log = logging.getLogger(__name__)

#: How long an update waits for the last press of a person who has a form or page open, in seconds.
OPEN_FOR = 60.0


class OpenViews:
    """The view that was opened last in place of each message. It is in the store: all bots share it."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def record(self, message: MessageRef, who: Reviewer) -> None:
        """Record that this person sees something else in place of the message now. Never raises: without it,
        an update comes too early.
        """
        store = self._reviews.store
        try:
            view = f"{await store.now() + OPEN_FOR} {who.key}"
            await store.save_draft(_key(message), view.encode(), OPEN_FOR)
        except HitlError as error:
            log.info("an open view is not recorded: %s", safe_message(error))

    async def close(self, review_id: str, message: MessageRef, who: Reviewer) -> None:
        """This person sees the message itself again: bring it up to date. `review_id`: also of a digest.
        Never raises: the update comes later.
        """
        store = self._reviews.store
        try:
            if (await self._load(message)).person != who.key:
                return
            await store.drop_draft(_key(message))
            if is_digest_id(review_id):
                await store.redraw_digest(review_id)
            else:
                await self._reviews.redraw(review_id, message, only_newer=True)
        except HitlError as error:
            log.info("a closed view is not recorded: %s", safe_message(error))

    async def seconds_left(self, message: MessageRef) -> float:
        """How long an update of the message should wait. Raises StoreUnavailable."""
        until = (await self._load(message)).until
        return min(max(until - await self._reviews.store.now(), 0.0), OPEN_FOR) if until else 0.0

    async def _load(self, message: MessageRef) -> _View:
        data = await self._reviews.store.draft(_key(message)) or b""
        until, _, person = data.decode().partition(" ")
        return _View(person, float(until or 0.0))


class _View(NamedTuple):
    """Who sees it, and until when an update waits, by the store's clock; "" and 0 for none."""

    person: str
    until: float


def _key(message: MessageRef) -> str:
    return f"view:{':'.join(message.key)}"
