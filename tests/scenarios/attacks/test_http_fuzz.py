"""Random requests to the bot's port: no 500, nothing is stored, no connection stays open, and clicks still
work.

The requests are made by a seed, so a failure can be repeated: it names the request.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from hitl_core import ToolCall
from hitl_core.store import RedisStore
from slack_sandbox.client.actor import sign
from slack_sandbox.sandbox import SIGNING_SECRET
from tests.api.client import issue
from tests.support.bots import POLICY, Scene, email
from tests.support.clicks import last_click
from tests.support.teams.users import TeamsUsers
from tests.support.waiting import wait_until

SEED, REQUESTS, AT_ONCE = 20, 600, 16
PATHS = ["/slack/events", "/api/messages", "/v1/reviews", "/v1/reviews/0-" + "a" * 32 + "/once",
         "/v1/reviews?status=settled", "/v1/openapi.json", "/metrics", "/readyz", "/healthz",
         "/", "/%2e%2e/etc", "//", "/v1/reviews/%00"]  # fmt: skip
METHODS = [b"POST"] * 6 + [b"GET"] * 3 + [b"PUT", b"HEAD", b"OPTIONS", b"get", b"\x00"]
KINDS = ["application/json", "application/x-www-form-urlencoded", "text/plain", "multipart/form-data",
         "application/json; charset=klingon", "application/x-www-form-urlencoded; charset=utf-16",
         "", "x" * 300]  # fmt: skip
JUNK = ["", "{", "[]", "null", "[" * 5000, '{"a":' * 500, "payload=", "payload=%zz", "payload=%ff%fe",
        "a=b&" * 3000, "1e999", '{"a":1,"a":2}', '{"type":"url_verification"}', "\x00" * 100,
        '{"thread_id":1}', "payload=" + quote('{"type":"block_actions"}'), "9" * 5000]  # fmt: skip


class Requests:
    """Requests as bytes: by strangers, by somebody with a token, and with Slack's signature."""

    def __init__(self, seeded: random.Random, click: str, token: str) -> None:
        self._random, self._click, self._token = seeded, click, token

    def make(self, count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield self._mangle(self._request())

    def _request(self) -> bytes:
        pick = self._random.choice
        path, body = pick(PATHS), self._body()
        headers = {"Content-Type": pick(KINDS), **self._credentials(path, body)}
        if self._random.random() < 0.9:
            headers["Content-Length"] = str(len(body) + pick([0] * 12 + [-1, 1, 10**9, -(10**9)]))
        else:
            headers["Transfer-Encoding"] = pick(["chunked", "gzip", "chunked, chunked"])
        if self._random.random() < 0.05:
            headers["Content-Encoding"] = pick(["gzip", "br", "deflate"])
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = b"%b %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" % (
            pick(METHODS),
            path.encode(),
        )
        return head + lines.encode() + b"\r\n" + body

    def _body(self) -> bytes:
        text = self._random.choice([*JUNK, self._click, self._click, self._click])
        data = bytearray(text.encode())
        for _ in range(self._random.choice([0, 0, 1, 5])):
            if data:
                data[self._random.randrange(len(data))] = self._random.randrange(256)
        return bytes(data)

    def _credentials(self, path: str, body: bytes) -> dict[str, str]:
        kind = self._random.random()
        if path.startswith("/v1") and kind < 0.6:
            return {"Authorization": f"Bearer {self._token}"}
        if path == "/slack/events" and kind < 0.6:
            when = str(int(time.time()))
            signature = sign(SIGNING_SECRET, when, body.decode("latin-1"))
            if body.isascii():  # the helper signs text
                return {"X-Slack-Request-Timestamp": when, "X-Slack-Signature": signature}
        return {
            "Authorization": self._random.choice(["", "Bearer x", "Bearer a.b.c", "Basic eA=="])
        }

    def _mangle(self, request: bytes) -> bytes:
        """One of ten is cut, one of ten has wrong bytes in its head."""
        kind = self._random.random()
        if kind < 0.1:
            return request[: self._random.randrange(len(request))]
        if kind < 0.2:
            data = bytearray(request)
            data[self._random.randrange(min(len(data), 120))] = self._random.randrange(256)
            return bytes(data)
        return request


async def send(url: str, request: bytes) -> bytes:
    """The answer's first line; b"" if the server hung up without one, or waits for more."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        writer.write(request)
        async with asyncio.timeout(0.5):
            return await reader.readline()
    except (TimeoutError, ConnectionError):
        return b""
    finally:
        writer.close()


async def flood(url: str, requests: Iterator[bytes]) -> Counter[int]:
    """How often each status was answered. Fails for a 5xx, with its request."""
    statuses = Counter[int]()

    async def one_after_the_other() -> None:
        for request in requests:
            line = await send(url, request)
            status = int(line.split()[1]) if line.startswith(b"HTTP/") else 0
            assert status < 500 or status == 501, (line, request[:2000])
            statuses[status] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(one_after_the_other())
    return statuses


@pytest.fixture
def bot_settings(tmp_path: Path) -> dict[str, str]:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    return {"HITL_POLICY": str(policy)}


async def test_junk_of_every_kind_does_no_harm(scene: Scene, users: TeamsUsers) -> None:
    """T21, T72: given a bot with Slack, Teams and the HTTP API, and a flood of junk, some of it signed or
    with a token; then nothing is answered with a 500, no review is made, no task of a connection is left, and
    each click in between counts."""
    gate = await scene.gate()
    first = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit")
    click = f"payload={quote(json.dumps(await last_click(scene)))}"
    await scene.alice.press(card, "approve")
    assert len((await first).execute) == 1
    store = await RedisStore.open(scene.redis_url)
    _, token = await issue(store, "crm")
    await store.close()
    assert scene.sandbox.bot_url
    url = scene.sandbox.bot_url.removesuffix("/slack/events")
    redis = await scene.redis()
    made = Requests(random.Random(SEED), click, token)
    await flood(url, made.make(AT_ONCE))  # what is made once, as caches, is there

    tasks, reviews = len(asyncio.all_tasks()), len(await redis.keys("hitl:{0}:review:*"))
    flooding = asyncio.create_task(flood(url, made.make(REQUESTS)))
    served = 0
    while not flooding.done() or served < 3:
        note = ToolCall("c1", "note", {"text": f"number {served}."})
        waiting = scene.ask(gate, note)
        await scene.alice.press(await scene.card(f"number {served}."), "approve")
        outcome = await asyncio.wait_for(waiting, 30)
        assert len(outcome.execute) == 1
        await outcome.finish()
        served += 1
    statuses = await flooding
    assert statuses.total() == REQUESTS
    assert statuses[401] > 0 < statuses[400]

    gc.collect()
    await wait_until("its tasks have ended", lambda: len(asyncio.all_tasks()) <= tasks + 2, 30)
    assert len(await redis.keys("hitl:{0}:review:*")) == reviews + served
