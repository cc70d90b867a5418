"""An agent's gate over HTTP: the part of `Gate` that `make chaos` needs.

It repeats each request with the same key until a bot answers, as docs/http.md tells clients to do.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self
from uuid import uuid4

import aiohttp

from hitl_core import ToolCall
from hitl_core.errors import HitlError, LeaseLost

#: How long one request may take, in seconds. A request that waits for people may take this long plus `WAIT`.
TIMEOUT = 6.0
WAIT = 5
#: The shortest lease that the HTTP API takes, in seconds.
LEASE = 5
PAUSE = 0.3

Json = dict[str, Any]


class HttpOutcome:
    """Which calls of one review may run. It has the methods of `Outcome`."""

    def __init__(self, gate: HttpGate, review: Json) -> None:
        self._gate, self.review_id = gate, str(review["id"])
        self._is_done = review["status"] == "done"
        found = [] if self._is_done else review["outcome"]["execute"]
        self.execute = tuple(ToolCall(call["id"], call["name"], call["args"]) for call in found)

    async def once(self, call: ToolCall) -> bool:
        body = {"tool_call_id": call.id, "name": call.name, "args": call.args, "lease": LEASE}
        began = time.monotonic()
        answer = await self._gate.post(f"/{self.review_id}/once", body)
        if time.monotonic() - began > LEASE:  # another process may have claimed the review by now
            raise LeaseLost(f"The answer about {self.review_id} came too late.")
        return answer["run"]

    async def finish(self, results: Mapping[str, str]) -> None:
        if not self._is_done:
            await self._gate.post(f"/{self.review_id}/done", {"results": results})

    def release(self) -> None:
        """Sends nothing to the bot: the lease ends by itself."""
        self._gate.taken.discard(self.review_id)


class HttpGate:
    """`urls`: the bots. After an error the next one is asked."""

    def __init__(self, session: aiohttp.ClientSession, urls: Sequence[str], token: str) -> None:
        self._session, self._urls, self._token = session, list(urls), token
        self._holder = f"{os.getpid()}-{uuid4().hex}"
        #: Reviews that this process works on or waits for, so that none of its workers takes them a second
        #: time.
        self.taken: set[str] = set()

    @classmethod
    @asynccontextmanager
    async def connect(cls, urls: Sequence[str], token: str) -> AsyncGenerator[Self, None]:
        unlimited = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=unlimited) as session:
            yield cls(session, urls, token)

    async def submit(
        self, calls: Sequence[ToolCall], *, thread_id: str, turn: str, requester: str
    ) -> str:
        body = {
            "thread_id": thread_id,
            "turn": turn,
            "requester": requester,
            "calls": [{"id": call.id, "name": call.name, "args": call.args} for call in calls],
        }
        return (await self._request("POST", "", body))["id"]

    async def wait(self, review_id: str) -> HttpOutcome:
        self.taken.add(review_id)
        while True:
            review = await self._request("GET", f"/{review_id}?wait={WAIT}")
            if review["outcome"] is not None:
                return HttpOutcome(self, review)

    async def outcomes(self) -> AsyncIterator[HttpOutcome]:
        """Settled reviews. Each comes again until a process has claimed it."""
        while True:
            found = await self._request("GET", f"?status=settled&limit=20&wait={WAIT}")
            for review in found["reviews"]:
                if review["outcome"] is not None and review["id"] not in self.taken:
                    self.taken.add(review["id"])
                    yield HttpOutcome(self, review)
            await asyncio.sleep(PAUSE)

    async def post(self, path: str, body: Json) -> Json:
        return await self._request("POST", path, {**body, "holder": self._holder})

    async def _request(self, method: str, path: str, body: Json | None = None) -> Json:
        """Repeats the request until a bot answers. Raises HitlError if the bot refuses."""
        headers = {"Authorization": f"Bearer {self._token}", "Idempotency-Key": uuid4().hex}
        while True:
            try:
                async with self._session.request(
                    method, f"{self._urls[0]}/v1/reviews{path}", json=body, headers=headers,
                    timeout=aiohttp.ClientTimeout(TIMEOUT + (WAIT if method == "GET" else 0)),
                ) as response:  # fmt: skip
                    answer = await response.json()
                    if response.ok:
                        return answer
                    if response.status < 500 and response.status != 429:
                        raise HitlError(f"{answer['code']}: {answer['detail']}")
            except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
                pass
            self._urls.append(self._urls.pop(0))
            await asyncio.sleep(PAUSE)
