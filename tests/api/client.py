"""An HTTP client of the API, as an agent in any language has it: a token, and JSON over HTTP."""

from __future__ import annotations

import io
import json
import time
from typing import Any, NamedTuple

import aiohttp

from hitl_core.model import Token
from hitl_core.store import Store


class Reply(NamedTuple):
    """`body` is parsed where it is JSON."""

    status: int
    body: Any
    headers: Any

    @property
    def code(self) -> str:
        """Of a problem."""
        assert self.headers["Content-Type"] == "application/problem+json", self
        assert self.body["status"] == self.status
        return self.body["code"]


class Client:
    """`url` is the server's, without a path."""

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str) -> None:
        self.session, self.url, self.token = session, url, token

    async def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> Reply:
        """Exactly these bytes. In a header's name `_` means `-`."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given = {"Authorization": f"Bearer {self.token}", **given}
        async with self.session.request(
            method, self.url + path, data=body and io.BytesIO(body), headers=given
        ) as answer:
            text = await answer.text()
            parsed = json.loads(text) if "json" in answer.content_type and text else text
            return Reply(answer.status, parsed, answer.headers)

    async def get(self, path: str) -> Reply:
        return await self.send("GET", path)

    async def post(self, path: str, body: Any = None, key: str | None = None) -> Reply:
        named = {"Idempotency_Key": key} if key else {}
        data = json.dumps({} if body is None else body).encode()
        return await self.send("POST", path, data, Content_Type="application/json", **named)

    async def submit(self, *calls: dict[str, Any], thread: str = "t-1", **more: Any) -> Reply:
        return await self.post("/v1/reviews", {"thread_id": thread, "calls": calls, **more})

    async def read(self, review: str, wait: int = 0) -> dict[str, Any]:
        reply = await self.get(f"/v1/reviews/{review}?wait={wait}")
        assert reply.status == 200, reply
        return reply.body

    async def once(
        self, review: str, call: str = "c1", key: str | None = None, **more: Any
    ) -> Reply:
        body = {"tool_call_id": call, **more}
        return await self.post(f"/v1/reviews/{review}/once", body, key)

    async def done(self, review: str, key: str | None = None, **results: str) -> Reply:
        return await self.post(f"/v1/reviews/{review}/done", {"results": results}, key)


def tool_call(id: str = "c1", name: str = "ask", **args: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "args": args}


async def issue(store: Store, agent: str = "billing") -> tuple[Token, str]:
    """A new token of this agent, and its text."""
    token, text = Token.issue(agent, "a test", time.time())
    await store.save_token(token)
    return token, text
