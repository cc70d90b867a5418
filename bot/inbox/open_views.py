"""Forms and pages that a channel shows in place of a message: an update of the message would close them, with
everything that was typed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from hitl_core.errors import HitlError, StoreUnavailable, safe_message
from hitl_core.model import MessageRef, Reviewer, is_digest_id
from hitl_core.review import Reviews
from hitl_core.store import change_temporary_value

log = logging.getLogger(__name__)

#: How long an update waits for the last press of a person who has a form or page open, in seconds.
OPEN_FOR = 60.0
#: The longest wait, in seconds, also if people go on pressing: others see an old state until then.
MAX_WAIT = 300.0
#: How long it waits while it is unknown what is open, in seconds; then it is asked again.
UNKNOWN_WAIT = 5.0


class OpenViews:
    """The views that are open in place of each message. They are in the store: all bots share them."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def record(self, message: MessageRef, who: Reviewer) -> None:
        """Record that this person sees something else in place of the message now. Never raises: without it,
        an update comes too early.
        """

        def open(views: _Views, now: float) -> _Views:
            return views._replace(until={**views.until, who.key: now + OPEN_FOR})

        try:
            await self._change(message, open)
        except HitlError as error:
            log.info("an open view is not recorded: %s", safe_message(error))

    async def close(self, review_id: str, message: MessageRef, who: Reviewer) -> None:
        """This person sees the message itself again: bring it up to date, unless others have a view open.
        `review_id`: also of a digest. Never raises: the update comes later.
        """

        def close(views: _Views, now: float) -> _Views:
            until = {key: time for key, time in views.until.items() if key != who.key}
            return views._replace(until=until)

        try:
            before, after, _ = await self._change(message, close)
            if after.until or not before.until:
                return
            if is_digest_id(review_id):
                await self._reviews.store.redraw_digest(review_id)
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

        def wait(views: _Views, now: float) -> _Views:
            if not views.seconds(now):
                return _Views()
            return views if views.waits_since else views._replace(waits_since=now)

        try:
            _, after, now = await self._change(message, wait)
        except StoreUnavailable:
            return UNKNOWN_WAIT
        return after.seconds(now)

    async def _change(
        self, message: MessageRef, change: Callable[[_Views, float], _Views]
    ) -> tuple[_Views, _Views, float]:
        """The views before and after the change, and its time."""
        changed = _Views(), _Views(), 0.0

        def change_data(data: bytes | None, now: float) -> bytes | None:
            nonlocal changed
            before = _read(data or b"{}", now)
            after = change(before, now)
            changed = before, after, now
            if after == before:
                return data
            return json.dumps(after._asdict()).encode() if after.until else None

        await change_temporary_value(self._reviews.store, _key(message), change_data, OPEN_FOR)
        return changed


class _Views(NamedTuple):
    """Until when an update waits for each person, and since when one waits, by the store's clock; 0.0: none
    does.
    """

    until: Mapping[str, float] = {}
    waits_since: float = 0.0

    def seconds(self, now: float) -> float:
        """How long an update waits; 0.0 if it comes now."""
        if not self.until:
            return 0.0
        since = min(self.waits_since or now, now)
        return max(0.0, min(max(self.until.values()), since + MAX_WAIT) - now)


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
