"""Posts problems to the bot's own channel: when they have lasted for a minute, and when they are over."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Self

from hitl_core.errors import HitlError
from hitl_core.model import DEFAULT_PLACE
from hitl_core.store import Store

from ..channels.contract import ChannelError
from .health import FORGET_AFTER, Health, Problem, ProblemKind

#: How long a problem lasts before it is posted; also the shortest time between two messages. In seconds.
NOTICE_DELAY = 60.0
#: How often the problems are checked, in seconds.
INTERVAL = 10.0
#: The most problems that one message names.
MAX_NAMED = 10

#: The subject of the problem that no message can be posted there.
OWN_CHANNEL: tuple[ProblemKind, str] = ("place", DEFAULT_PLACE)
_UNPOSTED = "Problems can't be posted to the bot's own channel (HITL_CHANNEL)"

#: Posts these lines as one message. Raises ChannelError.
Post = Callable[[Sequence[str]], Awaitable[object]]


class Notices:
    """Runs while the block runs. Of several bots with one Redis only one posts. Redis stores which problems
    were posted, and the time of the last message.
    """

    def __init__(
        self,
        health: Health,
        store: Store,
        post: Post,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._health, self._store, self._post = health, store, post
        self._clock = clock
        #: The problems that any bot has posted, and until when Redis remembers that.
        self._posted: dict[tuple[ProblemKind, str], tuple[Problem, float]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL)
            with self._health.report_errors("delivery", "notices", _UNPOSTED):
                await self.tick()

    async def tick(self) -> None:
        """Post at most one message. Raises HitlError if the store can't be reached; nothing is posted then,
        so that nothing is posted twice.
        """
        now = self._clock()
        current = {
            one.key: one for one in self._health.current_problems() if one.key != OWN_CHANNEL
        }
        lasting = [one for one in current.values() if now - one.since >= NOTICE_DELAY]
        new = [one for one in lasting if one.key not in self._posted]
        over = [one for key, (one, _) in self._posted.items() if key not in current]
        await self._remember([one for one in lasting if one.key in self._posted], now)
        if not (new or over) or not await self._store.try_lock("notices", NOTICE_DELAY):
            return
        new = [one for one in new if not await self._is_posted(one, now)]
        ended = [one for one in over if await self._store.temporary_value(_key(one)) is not None]
        if (new or ended) and not await self._post_notice(new, ended):
            return
        for one in over:
            del self._posted[one.key]
            await self._store.drop_temporary_value(_key(one))
        self._posted |= {one.key: (one, 0.0) for one in new}
        await self._remember(new, now)

    async def _post_notice(self, new: Sequence[Problem], over: Sequence[Problem]) -> bool:
        try:
            unseen = [one for one in over if self._health.is_unseen(one)]
            solved = [one for one in over if one not in unseen]
            await self._post(_message_lines(new, solved, unseen))
        except ChannelError as error:
            text = f"{_UNPOSTED}: {error}."
            self._health.report(*OWN_CHANNEL, text)
            return False
        self._health.resolve(*OWN_CHANNEL)
        return True

    async def _is_posted(self, problem: Problem, now: float) -> bool:
        """Whether another bot posted it, or this one before its restart."""
        if await self._store.temporary_value(_key(problem)) is None:
            return False
        self._posted[problem.key] = problem, now
        return True

    async def _remember(self, problems: Sequence[Problem], now: float) -> None:
        """Record in Redis for a while that these problems were posted. The record expires if the bot dies."""
        for one in problems:
            if self._posted[one.key][1] - now < FORGET_AFTER / 2:
                with contextlib.suppress(HitlError):
                    await self._store.save_temporary_value(_key(one), b"1", FORGET_AFTER)
                    self._posted[one.key] = one, now + FORGET_AFTER


def _key(problem: Problem) -> str:
    subject = hashlib.sha256(problem.subject.encode()).hexdigest()[:24]
    return f"notice:{problem.kind}:{subject}"


def _message_lines(
    new: Sequence[Problem], solved: Sequence[Problem], unseen: Sequence[Problem]
) -> list[str]:
    minutes = round(FORGET_AFTER / 60)
    lines = list[str]()
    for problems, what, rest in (
        (new, "Problem", ": see the bot's log"),
        (solved, "Solved", " are solved"),
        (unseen, f"Not seen again for {minutes} minutes", " were not seen again"),
    ):
        lines += [f"{what}: {one.text}" for one in problems[:MAX_NAMED]]
        if (more := len(problems) - MAX_NAMED) > 0:
            lines.append(f"{more} more problems{rest}.")
    return lines
