"""How many requests of one token the server handles at the same time, and how much memory the waiting ones
use.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bot.api import agent_api, request_slots
from bot.web.connections import Connection
from hitl_core.model import Review
from tests.api.client import Client, tool_call
from tests.support.waiting import wait_until


async def test_many_reads_of_large_reviews_keep_few_of_them(
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


async def test_who_sends_slowly_holds_nobody_up(
    client: Client, other: Callable[..., Awaitable[Client]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """attack 7, L3: given more requests that send half of their bodies than may be worked on at once; then
    other requests, of the same token too, are answered, and so are the slow ones in the end."""
    monkeypatch.setattr(request_slots, "MAX_WAIT", 0.3)
    count = request_slots.MAX_WORKING + 1
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

    slow = [asyncio.create_task(send()) for _ in range(count)]
    await wait_until("half is sent", lambda: sent == count)
    assert (await client.get("/v1/reviews?thread_id=t")).status == 200
    assert (await (await other()).get("/v1/reviews?thread_id=t")).status == 200
    assert (await client.submit(tool_call())).status == 201
    go.set()
    assert set(await asyncio.gather(*slow)) <= {422, 429}


async def test_a_body_counts_until_its_turn(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given all places taken; then the bodies of those that wait for one count as arriving, and no more when
    it is their turn, or they are refused."""
    counted: list[int] = []
    set_buffered = Connection.set_buffered

    def note(self: Connection, size: int) -> None:
        set_buffered(self, size)
        counted.append(size)

    monkeypatch.setattr(request_slots, "MAX_WAIT", 0.1)
    monkeypatch.setattr(request_slots, "MAX_OF_TOKEN", 0)
    monkeypatch.setattr(Connection, "set_buffered", note)
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    body = b" " * 5000 + b"{}"
    async with client.session.post(
        f"{client.url}/v1/reviews", data=body, headers=headers
    ) as answer:
        assert answer.status == 429
    assert counted[-1] == 0
    assert max(counted) >= len(body)
    assert counted.index(0, counted.index(max(counted))) > 0
