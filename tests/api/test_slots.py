"""How many requests of one token are worked on at the same time, and what the others keep in memory."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bot.api import agent_api, request_slots
from hitl_core.model import Review
from tests.api.client import Client, tool_call
from tests.support.waiting import wait_until


async def test_attack6_m1_many_reads_of_large_reviews_keep_few_of_them(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a thread with several reviews; when it is listed by many requests at once, then the reviews of a
    few requests are in memory at the same time."""
    for turn in range(3):
        await client.submit(tool_call(text="x" * 100_000), turn=str(turn))
    alive, most = 0, 0
    load = agent_api.AgentApi.load

    async def counting(self: agent_api.AgentApi, *asked: object) -> Review:
        nonlocal alive, most
        review = await load(self, *asked)  # pyright: ignore[reportArgumentType]
        alive += 1
        most = max(most, alive)

        def forget() -> None:
            nonlocal alive
            alive -= 1

        weakref.finalize(review, forget)
        return review

    monkeypatch.setattr(agent_api.AgentApi, "load", counting)
    replies = await asyncio.gather(*(client.get("/v1/reviews?thread_id=t-1") for _ in range(60)))

    assert [len(reply.body["reviews"]) for reply in replies] == [3] * 60
    assert most < 60, "of 180"


async def test_attack6_m1_who_sends_slowly_takes_no_place_from_another_token(
    client: Client, other: Callable[..., Awaitable[Client]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a token whose requests send half of their bodies; then its next request waits and is refused,
    and another token's is answered."""
    monkeypatch.setattr(request_slots, "MAX_WAIT", 0.3)
    go, sent = asyncio.Event(), 0

    async def half_a_body() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"thread_id": '
        sent += 1
        await go.wait()
        yield b'"t"}'

    async def send() -> int:
        headers = {
            "Authorization": f"Bearer {client.token}",
            "Content-Type": "application/json",
        }
        url = f"{client.url}/v1/reviews"
        async with client.session.post(url, data=half_a_body(), headers=headers) as answer:
            return answer.status

    slow = [asyncio.create_task(send()) for _ in range(request_slots.MAX_OF_TOKEN)]
    await wait_until("half is sent", lambda: sent == request_slots.MAX_OF_TOKEN)

    async def refused() -> bool:
        reply = await client.get("/v1/reviews?thread_id=t")
        return reply.status == 429 and reply.code == "too_many" and "Retry-After" in reply.headers

    await wait_until("it is refused", refused)
    assert (await (await other()).get("/v1/reviews?thread_id=t")).status == 200
    go.set()
    assert await asyncio.gather(*slow) == [422] * len(slow)
