"""Who waits for which review in this process, and the one listener that wakes them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Generator, Iterable

from hitl_core.errors import HitlError

log = logging.getLogger(__name__)

_RETRY_DELAY = 0.05


class Watchers:
    """Waiting costs an event each, and no connection."""

    def __init__(self) -> None:
        self._by_review: dict[str, list[asyncio.Event]] = {}
        self._for_any_review: list[asyncio.Event] = []

    def is_watched(self, review_id: str) -> bool:
        return review_id in self._by_review

    @contextlib.contextmanager
    def watch(self, review_id: str | None) -> Generator[asyncio.Event, None, None]:
        """An event set whenever this review may have changed; with None, whenever any may have."""
        event = asyncio.Event()
        watchers = (
            self._for_any_review if review_id is None else self._by_review.setdefault(review_id, [])
        )
        watchers.append(event)
        try:
            yield event
        finally:
            watchers.remove(event)
            if review_id is not None and not watchers:
                self._by_review.pop(review_id, None)

    def wake(self, review_ids: Iterable[str]) -> None:
        for review_id in review_ids:
            for event in [*self._by_review.get(review_id, []), *self._for_any_review]:
                event.set()

    def wake_all(self) -> None:
        for watchers in [*self._by_review.values(), self._for_any_review]:
            for event in watchers:
                event.set()

    async def listen(
        self, receive: Callable[[], Awaitable[list[str]]], *, may_have_missed: bool = False
    ) -> None:
        """Wake whoever waits for what is heard of, for ever. After an error, and at the start where nobody
        listened before (`deaf`), everybody is woken: what happened meanwhile was not heard.
        """
        pause = _RETRY_DELAY
        while True:
            try:
                review_ids = await receive()
            except HitlError as error:
                if pause == _RETRY_DELAY:
                    log.warning("Waiting for reviews, and for the store: %s", error)
                may_have_missed = True
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, 2.0)
                continue
            if pause > _RETRY_DELAY:
                log.info("The store is back.")
            if may_have_missed:
                self.wake_all()
            may_have_missed, pause = False, _RETRY_DELAY
            self.wake(review_ids)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait for a hint, but look again after `seconds` at the latest."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.05, seconds)):
            await event.wait()
    event.clear()


async def cancel_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel them, and wait until they are through."""
    tasks = list(tasks)
    running = set(tasks)
    # Again and again: before Python 3.12 one that comes while a command is sent may be swallowed.
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=0.1)
    await asyncio.gather(*tasks, return_exceptions=True)
