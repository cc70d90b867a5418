"""Whether this bot can do its work: what `/readyz` asks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from hitl_core.errors import HitlError, StoreError
from hitl_core.store import Store

from .health import Health, Problem

log = logging.getLogger(__name__)

#: How far this machine's clock may be off Redis's, in seconds. Slack's requests are refused from 300 on, as
#: they would be replays (docs.slack.dev/authentication/verifying-requests-from-slack).
MAX_SKEW = 120.0
#: How long the answer may take, in seconds.
PROBE_TIMEOUT = 2.0
SLOW_STORE = "Redis did not answer in time."
#: How often `tell_changes` looks, in seconds.
WATCH_INTERVAL = 5.0

Probe = Callable[[], Awaitable[dict[str, object]]]


def make_probe(
    store: Store,
    checks: Sequence[Callable[[], None]],
    health: Health,
    clock: Callable[[], float] = time.time,
) -> Probe:
    """Redis answers and takes writes, each of the checks is through, and this machine's clock is about right.
    What `health` knows of makes no bot unready: another bot of the same Slack would do no better. It is
    counted by its kind, with the time since when: whoever reaches the port may ask, and learns no name of a
    channel, id of a review or error of Slack. Those are in the log and in the bot's own channel.
    """

    async def ready() -> dict[str, object]:
        skew = clock() - await store.now()
        await store.try_lock("ready", 1.0)  # the smallest write: a full Redis refuses it
        if abs(skew) > MAX_SKEW:
            ahead = "ahead of" if skew > 0 else "behind"
            raise HitlError(
                f"This machine's clock is {abs(skew):.0f} s {ahead} Redis's. Slack's requests look forged"
                " where it is 300 s off: set the clocks."
            )
        for check in checks:
            check()
        return {
            "undelivered": await store.count_dead_letters(),
            "problems": _by_kind(health.current_problems()),
        }

    return ready


async def log_changes(ready: Probe) -> None:
    """For ever: the log has one line when this bot can't do its work any more, and one when it can again."""
    since: float | None = None
    while True:
        try:
            async with asyncio.timeout(PROBE_TIMEOUT):
                await ready()
        except (HitlError, TimeoutError) as error:
            if since is None:
                since = time.monotonic()
                log.warning("not ready: %s", error if str(error) else SLOW_STORE)
        else:
            if since is not None:
                log.warning("ready again after %.0f s", time.monotonic() - since)
                since = None
        await asyncio.sleep(WATCH_INTERVAL)


def public_reason(error: HitlError | TimeoutError) -> str:
    """Why a probe fails. An operator's log says more than who may ask needs to know."""
    if isinstance(error, StoreError):
        return "Redis refuses what it is asked. The bot's log says more."
    return str(error) or SLOW_STORE


def _by_kind(problems: Sequence[Problem]) -> dict[str, object]:
    """How many there are of each kind, and since when, in seconds since the epoch."""
    since: dict[str, list[float]] = {}
    for problem in problems:
        since.setdefault(problem.kind, []).append(problem.since)
    return {kind: {"count": len(all), "since": round(min(all))} for kind, all in since.items()}
