"""Metrics for Prometheus: numbers over all reviews, without their contents."""

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
    """Add `GET /metrics`. The values come from Redis, so every bot of one Redis reports the same; only
    `problems` are those of this bot.
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
    backlog = await store.backlog()
    gauge("cards_waiting", "Cards that wait to be posted or updated.", backlog.waiting)
    gauge(
        "oldest_card_wait_seconds",
        "The longest time that the next card of a queue has waited.",
        max(0.0, now - backlog.oldest) if backlog.oldest is not None else 0.0,
    )
    gauge("undelivered_reviews", "Reviews with a card that could not be shown.", undelivered)
    problems = Gauge(
        "hitl_problems", "Current problems of this bot, by kind.", ["kind"], registry=registry
    )
    for kind, count in health.counts().items():
        problems.labels(kind).set(count)
    return generate_latest(registry)
