"""What operators poll: whether this bot is ready (`/readyz`), and metrics for Prometheus."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from hitl_core.errors import (
    HitlError,
    StoreError,
    StoreForbidden,
    StoreUnavailable,
    StoreUnwritable,
    safe_message,
)
from hitl_core.store import Store

from ..shared_reads import SharedReads
from .health import Health, Problem

log = logging.getLogger(__name__)

#: The largest difference between this machine's clock and Redis's, in seconds. From 300 s on, Slack's
#: requests are refused as replays (docs.slack.dev/authentication/verifying-requests-from-slack).
MAX_SKEW = 120.0
#: How long a probe may take, in seconds.
PROBE_TIMEOUT = 2.0
SLOW_STORE = "Redis did not answer in time."
#: How often `log_changes` probes, in seconds.
WATCH_INTERVAL = 5.0

Probe = Callable[[], Awaitable[dict[str, object]]]


def make_probe(
    store: Store,
    checks: Sequence[Callable[[], None]],
    health: Health,
    clock: Callable[[], float] = time.time,
) -> Probe:
    """The probe fails unless Redis answers and accepts writes, each check passes, and the machine's clock is
    about right.

    The problems in `health` don't make a bot unready, because other bots with these channels have them too.
    The answer has their number by kind, and the time of the oldest. Anybody who reaches the port may ask, so
    the answer has no names of places, review ids or errors of a channel: these are in the log and in the
    bot's own channel.
    """

    async def ask_store() -> tuple[float, int]:
        missing = set[int]()
        now, undelivered, failure = await asyncio.gather(
            store.now(), store.count_dead_letters(missing), _try_write(store)
        )
        if failure is not None and not missing:  # else its server is one of those that are missing
            raise failure
        return clock() - now, undelivered

    reads = SharedReads()  # so that a flood of probes takes little time from people's clicks

    async def ready() -> dict[str, object]:
        skew, undelivered = await reads.read("ready", ask_store)
        if abs(skew) > MAX_SKEW:
            ahead = "ahead of" if skew > 0 else "behind"
            raise HitlError(
                f"This machine's clock is {abs(skew):.0f} s {ahead} Redis's. From 300 s on,"
                " people's clicks are refused. Synchronize the clocks."
            )
        for check in checks:
            check()
        return {
            "undelivered": undelivered,
            "problems": _by_kind(health.current_problems()),
        }

    return ready


async def _try_write(store: Store) -> StoreUnavailable | None:
    """A small write: a full Redis refuses it. Returns the error if it got no answer."""
    try:
        await store.try_lock("ready", 1.0)
    except (StoreUnwritable, StoreForbidden):
        raise
    except StoreUnavailable as error:
        return error
    return None


async def log_changes(ready: Probe) -> None:
    """Runs until cancelled. Logs one line when the bot becomes unready and one when it is ready again."""
    since: float | None = None
    while True:
        try:
            async with asyncio.timeout(PROBE_TIMEOUT):
                await ready()
        except Exception as error:
            # Also one that is not ours: nobody would notice that this task ended.
            if since is None:
                since = time.monotonic()
                log.warning("not ready: %s", _log_reason(error))
        else:
            if since is not None:
                log.warning("ready again after %.0f s", time.monotonic() - since)
                since = None
        await asyncio.sleep(WATCH_INTERVAL)


def _log_reason(error: Exception) -> str:
    return SLOW_STORE if isinstance(error, TimeoutError) else safe_message(error)


def public_reason(error: HitlError | TimeoutError) -> str:
    """Why a probe fails, in a text that everybody may read. The log has the details."""
    if isinstance(error, StoreError | StoreForbidden):
        return "Redis refused a command. See the bot's log."
    return str(error) or SLOW_STORE


def _by_kind(problems: Sequence[Problem]) -> dict[str, object]:
    """By kind: the number of problems and the time of the oldest, in seconds since the epoch."""
    since: dict[str, list[float]] = {}
    for problem in problems:
        since.setdefault(problem.kind, []).append(problem.since)
    return {kind: {"count": len(all), "since": round(min(all))} for kind, all in since.items()}


def add_metrics(app: web.Application, store: Store, health: Health) -> None:
    """Add `GET /metrics`: numbers about all reviews, without their contents. The numbers come from Redis, so
    all bots of one Redis report the same; only `problems` are those of this bot.
    """

    reads = SharedReads()

    async def collect() -> bytes:
        return await _collect_metrics(store, health)

    async def metrics(_: web.Request) -> web.Response:
        try:
            return web.Response(
                body=await reads.read("metrics", collect),
                headers={"Content-Type": CONTENT_TYPE_LATEST},
            )
        except HitlError as error:
            return web.Response(status=503, text=public_reason(error))

    app.router.add_get("/metrics", metrics)


async def _collect_metrics(store: Store, health: Health) -> bytes:
    """Raises StoreUnavailable."""
    missing = set[int]()
    now, totals, undelivered = (
        await store.now(),
        await store.workload(missing),
        await store.count_dead_letters(missing),
    )
    registry = CollectorRegistry()

    def gauge(name: str, description: str, value: float) -> None:
        Gauge(f"hitl_{name}", description, registry=registry).set(value)

    gauge("reviews_live", "Reviews that are not done.", totals.live)
    gauge(
        "oldest_review_age_seconds",
        "Age of the oldest review that is not done.",
        now - totals.oldest if totals.oldest is not None else 0.0,
    )
    gauge(
        "overdue_seconds",
        "How late the bots are with escalations, deadlines, reminders and ended leases.",
        max(0.0, now - totals.overdue) if totals.overdue is not None else 0.0,
    )
    gauge(
        "clock_skew_seconds", "How far this machine's clock is ahead of Redis's.", time.time() - now
    )
    backlog = await store.backlog(missing)
    gauge("cards_waiting", "Cards that wait to be posted or updated.", backlog.waiting)
    gauge(
        "oldest_card_wait_seconds",
        "The longest time that the next card of a queue has waited.",
        max(0.0, now - backlog.oldest) if backlog.oldest is not None else 0.0,
    )
    gauge("undelivered_reviews", "Reviews with a card that could not be shown.", undelivered)
    gauge(
        "partitions_missing",
        "Partitions of Redis that give no answer: the numbers lack what they hold.",
        len(missing),
    )
    problems = Gauge(
        "hitl_problems", "Current problems of this bot, by kind.", ["kind"], registry=registry
    )
    for kind, count in health.counts().items():
        problems.labels(kind).set(count)
    return generate_latest(registry)
