"""Redis lost writes: an agent over HTTP learns it, and the calls that it has started are marked on the
review.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp
import pytest

from bot.api import agent_api
from bot.api.policies import Policies
from bot.health import Health, LossWatch
from hitl_core.errors import HitlError
from hitl_core.review import Release, Reviews, unrecorded_starts
from hitl_core.store import RedisStore
from hitl_core.store.redis import server_change
from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from tests.api.client import Client, issue, tool_call
from tests.api.conftest import serving
from tests.support.builders import approve_all, person, policy
from tests.support.redis_servers.lost_writes import aof_size, lose_writes_since
from tests.support.waiting import wait_until

# A process that lost a reply doesn't know what Redis forgot, so it can't notice it.
pytestmark = pytest.mark.every_reply


@pytest.mark.parametrize("what", ["renew", "done", "done with a result"])
async def test_a_holder_of_a_held_review_says_that_calls_were_started(
    client: Client, reviews: Reviews, what: str
) -> None:
    """Given a held review that lost its claim, and a bot that knows nothing of it; when the holder renews or
    finishes, then it is told that the review is held, and a release asks people whether the call ran."""
    id = (await client.submit(tool_call("c1"), tool_call("c2"))).body["id"]
    await approve_all(reviews, id)
    await reviews.store.hold_live_reviews()

    body = {"results": {"c1": "paid"} if "result" in what else {}} if "done" in what else {}
    reply = await client.post(f"/v1/reviews/{id}/{what.split(maxsplit=1)[0]}", body)

    assert (reply.status, reply.code) == (409, "held")
    assert "hitl reviews release" in reply.body["detail"]
    assert unrecorded_starts(await reviews.load(id)) == ("1", "2")


async def test_a_held_review_is_no_internal_error(client: Client, reviews: Reviews) -> None:
    """Given a held review; then each operation that changes it says so, and a question whether a call may
    start is no statement that it was started."""
    id = (await client.submit(tool_call())).body["id"]
    await approve_all(reviews, id)
    await reviews.store.hold_live_reviews()

    for reply in (await client.once(id), await client.once(id, holder="other")):
        assert (reply.status, reply.code) == (409, "held")
    assert unrecorded_starts(await reviews.load(id)) == ()


async def test_held_reviews_take_no_place_of_those_that_can_be_claimed(
    client: Client, reviews: Reviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given as many held reviews as are looked at; then one that came later is offered, and each held one
    after its release."""
    monkeypatch.setattr(agent_api, "MAX_LISTED", 2)

    async def submit(turn: str) -> str:
        id: str = (await client.submit(tool_call(), turn=turn)).body["id"]
        await approve_all(reviews, id)
        return id

    async def offered() -> list[str]:
        listed = (await client.get("/v1/reviews?status=settled")).body["reviews"]
        return [one["id"] for one in listed]

    held = [await submit("one"), await submit("two")]
    await reviews.store.hold_live_reviews()
    later = await submit("three")

    assert await offered() == [later]
    await reviews.apply(Release(held[0], person(), "op"))
    assert await offered() == [held[0], later]


async def test_a_bot_notes_what_its_agents_have_started(
    own_redis: Callable[[], EmbeddedRedis], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an HTTP agent that has started a call at one bot, and a Redis that lost that; then this bot notes
    it without a request, and after the release the other bot lets nobody start the call again."""
    monkeypatch.setattr(server_change, "PAUSE", 0.5)
    server = own_redis()
    mine, other = await RedisStore.open(server.url), await RedisStore.open(server.url)
    reviews, policies = Reviews(other), Policies(policy())
    async with (
        serving(mine, policies) as one,
        serving(other, policies) as two,
        aiohttp.ClientSession() as session,
    ):
        text = (await issue(mine, "billing"))[1]
        first, second = Client(session, one, text), Client(session, two, text)
        id = (await first.submit(tool_call())).body["id"]
        await approve_all(reviews, id)
        before = aof_size(server)
        assert (await first.once(id, holder="p1")).body["run"] is True

        lose_writes_since(server, before)

        watch = LossWatch(Reviews(mine), Health())

        async def noted() -> bool:
            try:
                await watch.tick()
                return unrecorded_starts(await reviews.load(id)) == ("1",)
            except HitlError:  # Redis is starting
                return False

        await wait_until("the bot notes it", noted)
        await reviews.apply(Release(id, person(), "op"))
        assert (await second.once(id, holder="p2")).code == "in_doubt"
    await asyncio.gather(mine.close(), other.close())
