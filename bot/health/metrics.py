"""What an operator's Prometheus reads: numbers over all reviews, never over their contents."""

from __future__ import annotations

import time

from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from hitl_core.errors import HitlError
from hitl_core.store import Store

from .health import Health
from .readiness import public_reason


def add_metrics(app: web.Application, store: Store, health: Health) -> None:
    """`GET /metrics`, asked of Redis each time: every bot of one Redis says the same. Only its problems are a
    bot's own.
    """

    async def metrics(_: web.Request) -> web.Response:
        try:
            return web.Response(
                body=await _collect_metrics(store, health),
                headers={"Content-Type": CONTENT_TYPE_LATEST},
            )
        except HitlError as error:
            return web.Response(status=503, text=public_reason(error))

    app.router.add_get("/metrics", metrics)


async def _collect_metrics(store: Store, health: Health) -> bytes:
    """Raises StoreUnavailable."""
    now, totals, undelivered = (
        await store.now(),
        await store.workload(),
        await store.count_dead_letters(),
    )
    registry = CollectorRegistry()

    def gauge(name: str, description: str, value: float) -> None:
        Gauge(f"hitl_{name}", description, registry=registry).set(value)

    gauge("reviews_live", "Reviews that are not done.", totals.live)
    gauge(
        "oldest_review_age_seconds",
        "How long the oldest review that is not done has been there.",
        now - totals.oldest if totals.oldest is not None else 0.0,
    )
    gauge(
        "overdue_seconds",
        "How late the bots are with what is due: escalations, deadlines, reminders, ended leases.",
        max(0.0, now - totals.overdue) if totals.overdue is not None else 0.0,
    )
    gauge(
        "clock_skew_seconds", "How far this machine's clock is ahead of Redis's.", time.time() - now
    )
    backlog = await store.backlog()
    gauge("cards_waiting", "Cards that wait to be posted or drawn.", backlog.waiting)
    gauge(
        "oldest_card_wait_seconds",
        "How long the card has waited that is next in the queue that waits longest.",
        max(0.0, now - backlog.oldest) if backlog.oldest is not None else 0.0,
    )
    gauge("undelivered_reviews", "Reviews with a card that could not be shown.", undelivered)
    problems = Gauge(
        "hitl_problems", "What is wrong at the moment, by kind.", ["kind"], registry=registry
    )
    for kind, count in health.counts().items():
        problems.labels(kind).set(count)
    return generate_latest(registry)
