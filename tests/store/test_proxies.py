"""Redis behind a proxy that hides which servers there are, as services that are managed have it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from types import SimpleNamespace

import pytest
import redis

from hitl_core.errors import StoreUnavailable
from hitl_core.model import Review
from hitl_core.review import claims
from hitl_core.store import RedisStore
from hitl_core.store.redis import server_change
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.store.steps import approved, created, stepped
from tests.support.redis_servers.proxy import Proxy, proxy_to
from tests.support.waiting import wait_until


@pytest.fixture
async def proxy(redis_url: str) -> AsyncIterator[Proxy]:
    async with proxy_to(redis_url) as proxy:
        yield proxy


def run_id_of(server: EmbeddedRedis) -> bytes:
    with redis.Redis.from_url(server.url) as client:
        return str(client.info("server")["run_id"]).encode()


async def can_read(store: RedisStore, review_id: str) -> bool:
    try:
        await store.load(review_id)
    except StoreUnavailable:
        return False
    return True


async def claim(store: RedisStore, review: Review) -> Review:
    return await stepped(store, claims.claim(review, "p1", await store.now(), 30))


async def test_a_proxy_that_answers_info_itself_delays_no_claim(proxy: Proxy) -> None:
    """Given INFO of a proxy, with a `run_id` that no server has; then a review is claimed at once. No process
    could ever claim one."""
    proxy.rewrite = lambda data: re.sub(rb"run_id:\w+", b"run_id:" + b"f" * 40, data)
    store = await RedisStore.open(proxy.url)
    review = await claim(store, await approved(store, await created(store)))
    assert review.status == "claimed"
    await store.close()


async def test_a_claim_on_a_server_that_a_proxy_hides_waits_once(
    own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a proxy that always names the same one of its servers, and reviews on another one; then a claim
    waits as after a failover, the next ones do not, and that after a restart does."""
    clock = SimpleNamespace(monotonic=lambda: later)
    monkeypatch.setattr(server_change, "time", clock)
    later, server = 0.0, own_redis()
    run_id = run_id_of(server)
    async with proxy_to(server.url) as proxy:
        proxy.rewrite = lambda data: data.replace(b"$40\r\n" + run_id, b"$40\r\n" + b"f" * 40)
        store = await RedisStore.open(proxy.url)
        reviews = [await approved(store, await created(store)) for _ in range(3)]
        for waits in (True, False, True):
            review = reviews.pop()
            if waits:
                with pytest.raises(StoreUnavailable, match="restarted or replaced"):
                    await claim(store, review)
                later += server_change.PAUSE
            assert (await claim(store, review)).status == "claimed"
            if not waits:
                server.stop()
                server.start()
                run_id = run_id_of(server)
                await wait_until(
                    "the old connections are gone", partial(can_read, store, review.id)
                )
        await store.close()
