"""Wakes the tasks of this process that wait for reviews: one listener for all, over one connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Generator, Iterable

from hitl_core.errors import (
    GateClosed,
    HitlError,
    StoreUnavailable,
    StoreUnwritable,
    safe_message,
)
from hitl_core.model import Snapshot
from hitl_core.review import Reviews
from hitl_core.store import AgentHint
from hitl_core.tasks import cancel_tasks

log = logging.getLogger(__name__)

#: A waiting process counts as dead this many seconds after its last heartbeat.
HEARTBEAT_TTL = 6.0
#: Hints from the stream can be lost, so the reviews themselves are read this often, in seconds.
POLL_INTERVAL = 30.0
#: The first pause after an error, in seconds.
_RETRY_DELAY = 0.05
#: One lost reply must not stop the start of an agent.
_START_ATTEMPTS = 3


class Watchers:
    """The waiting tasks. Each costs one asyncio.Event, and no connection."""

    def __init__(self) -> None:
        self._by_review: dict[str, list[asyncio.Event]] = {}
        self._for_any_review: list[asyncio.Event] = []

    def is_watched(self, review_id: str) -> bool:
        return review_id in self._by_review

    @contextlib.contextmanager
    def watch(self, review_id: str | None) -> Generator[asyncio.Event, None, None]:
        """An event that is set when this review may have changed; with None, when any review may have."""
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
        """Wake the tasks that wait for the received review ids. Never ends. After an error, all tasks are
        woken, because hints may have been missed; with `may_have_missed`, also after the first receive.
        """
        pause = _RETRY_DELAY
        while True:
            try:
                review_ids = await receive()
            except Exception as error:
                # Also one that is not ours: nobody would notice that this task ended.
                if pause == _RETRY_DELAY:
                    log.warning("Waiting for the store: %s", safe_message(error))
                may_have_missed = True
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, 2.0)
                continue
            if pause > _RETRY_DELAY:
                log.info("The store answers again.")
            if may_have_missed:
                self.wake_all()
            may_have_missed, pause = False, _RETRY_DELAY
            self.wake(review_ids)
            await _let_woken_send()


class ReviewListener(Watchers):
    """Wakes the tasks that wait for reviews. Between `start` and `stop` it listens, sends the heartbeat of
    its process, and checks that the store lost nothing.
    """

    def __init__(
        self, reviews: Reviews, agent: str, process: str, heartbeat_ttl: float = HEARTBEAT_TTL
    ) -> None:
        super().__init__()
        #: The newest hint of each watched review, until its task takes it.
        self._hints = dict[str, AgentHint]()
        self._reviews, self._store, self._agent = reviews, reviews.store, agent
        self._process, self._heartbeat_ttl = process, heartbeat_ttl
        self._is_open = False
        self._is_closed = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Send a heartbeat and fix the position in the stream, so that no later hint is missed. If the store
        takes no writes now, the heartbeat is sent later. Raises StoreUnavailable.
        """
        for left in reversed(range(_START_ATTEMPTS)):
            try:
                await self._begin()
                break
            except StoreUnavailable:
                if not left:
                    raise
                await asyncio.sleep(_RETRY_DELAY)
        self._tasks = [
            asyncio.create_task(self.listen(self._receive)),
            asyncio.create_task(self._send_heartbeats()),
        ]
        self._is_open = True

    async def _receive(self) -> list[str]:
        hints = await self._store.agent_hints(self._agent, 10.0)
        known = (*self._hints.values(), *hints)
        self._hints = {hint.review_id: hint for hint in known if self.is_watched(hint.review_id)}
        return [hint.review_id for hint in hints]

    def take_snapshot(self, review_id: str) -> Snapshot | None:
        """The review as a hint has just carried it, once. It saves a load."""
        hint = self._hints.pop(review_id, None)
        return hint.read() if hint else None

    async def _begin(self) -> None:
        try:
            await self._send_heartbeat()
        except StoreUnwritable as error:
            log.warning("New reviews can't be stored now: %s", error)
        await self._store.agent_hints(self._agent, 0)

    async def stop(self) -> None:
        """Tasks that still wait get GateClosed."""
        self._is_open, self._is_closed = False, True
        self.wake_all()
        await cancel_tasks(self._tasks)

    def check_open(self) -> None:
        if not self._is_open:
            raise GateClosed("The gate is not open: wait inside its `async with`.")

    def check_not_closed(self) -> None:
        """For methods that don't wait. They work before `start`, but not after `stop`."""
        if self._is_closed:
            raise GateClosed("This gate is closed: its `async with` has ended. Open another one.")

    async def _send_heartbeats(self) -> None:
        is_logged = False
        while True:
            await asyncio.sleep(self._heartbeat_ttl / 3)
            for work in (self._send_heartbeat, self._reviews.check_history):
                try:
                    await work()
                except HitlError:
                    pass  # `listen` logs that the store is away
                except Exception as error:
                    if not is_logged:
                        log.warning("The heartbeat of this process failed: %s", safe_message(error))
                    is_logged = True

    async def _send_heartbeat(self) -> None:
        await self._store.send_heartbeat(self._process, self._heartbeat_ttl)


async def _let_woken_send() -> None:
    """Let the woken tasks send their first command before the next read is sent. This takes two turns of the
    event loop: in the first they begin the command, in the second it is sent.
    """
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait for the event, for at most `seconds`; then clear it."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.05, seconds)):
            await event.wait()
    event.clear()
