"""Forms and pages that a channel shows in place of a message: an update of the message would close them, with
everything that was typed.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import NamedTuple

from hitl_core.errors import HitlError, StoreUnavailable, safe_message
from hitl_core.model import MessageRef, Reviewer, is_digest_id
from hitl_core.review import Reviews

log = logging.getLogger(__name__)

#: How long an update waits for the last press of a person who has a form or page open, in seconds.
OPEN_FOR = 60.0
#: How long it waits at most, in seconds, however often people press: others see an old state meanwhile.
MAX_WAIT = 300.0
#: How long it waits while it is unknown what is open, in seconds; then it is asked again.
UNKNOWN_WAIT = 5.0


class OpenViews:
    """The views that are open in place of each message. They are in the store: all bots share them. If two
    write at once, one of the views may be forgotten: then an update comes too early.
    """

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def record(self, message: MessageRef, who: Reviewer) -> None:
        """Record that this person sees something else in place of the message now. Never raises: without it,
        an update comes too early.
        """
        try:
            now, views = await self._load(message)
            until = {**views.until, who.key: now + OPEN_FOR}
            await self._save(message, views._replace(until=until))
        except HitlError as error:
            log.info("an open view is not recorded: %s", safe_message(error))

    async def close(self, review_id: str, message: MessageRef, who: Reviewer) -> None:
        """This person sees the message itself again: bring it up to date, unless others have a view open.
        `review_id`: also of a digest. Never raises: the update comes later.
        """
        store = self._reviews.store
        try:
            _, views = await self._load(message)
            until = {key: time for key, time in views.until.items() if key != who.key}
            if len(until) == len(views.until):
                return
            if until:
                await self._save(message, views._replace(until=until))
                return
            await store.drop_temporary_value(_key(message))
            if is_digest_id(review_id):
                await store.redraw_digest(review_id)
            else:
                await self._reviews.redraw(review_id, message, only_newer=True)
        except HitlError as error:
            log.info("a closed view is not recorded: %s", safe_message(error))

    async def forget(self, message: MessageRef) -> None:
        """The next update of the message closes what is open: somebody saw an old state. Never raises."""
        try:
            await self._reviews.store.drop_temporary_value(_key(message))
        except HitlError as error:
            log.info("open views are not forgotten: %s", safe_message(error))

    async def postpone(self, message: MessageRef) -> float:
        """Returns how many seconds an update of the message waits. With 0.0 it comes now and closes what is
        open. While it is unknown what is open, because a part of the store is missing, it waits.
        """
        try:
            return await self._postpone(message)
        except StoreUnavailable:
            return UNKNOWN_WAIT

    async def _postpone(self, message: MessageRef) -> float:
        now, views = await self._load(message)
        if not views.until:
            return 0.0
        since = min(views.waits_since or now, now)
        seconds = min(max(views.until.values()), since + MAX_WAIT) - now
        if seconds <= 0:
            await self._reviews.store.drop_temporary_value(_key(message))
            return 0.0
        if not views.waits_since:
            await self._save(message, views._replace(waits_since=now))
        return seconds

    async def _load(self, message: MessageRef) -> tuple[float, _Views]:
        """The time, and the views that are open then."""
        store = self._reviews.store
        data, now = await asyncio.gather(store.temporary_value(_key(message)), store.now())
        return now, _read(data or b"{}", now)

    async def _save(self, message: MessageRef, views: _Views) -> None:
        data = json.dumps(views._asdict()).encode()
        await self._reviews.store.save_temporary_value(_key(message), data, OPEN_FOR)


class _Views(NamedTuple):
    """Until when an update waits for each person, and since when one waits, by the store's clock; 0.0: none
    does.
    """

    until: Mapping[str, float] = {}
    waits_since: float = 0.0


def _read(data: bytes, now: float) -> _Views:
    """The views that are open now: none of before the clock was set back, or that another version wrote."""
    try:
        views = _Views(**json.loads(data))
        until = {key: time for key, time in views.until.items() if now < time <= now + OPEN_FOR}
        return _Views(until, float(views.waits_since))
    except (AttributeError, TypeError, ValueError):
        return _Views()


def _key(message: MessageRef) -> str:
    return f"view:{':'.join(message.key)}"
