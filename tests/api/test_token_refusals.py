"""Without a good token nothing is read, and no token is kept."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis

from bot.api import routes
from hitl_core.model import Token
from hitl_core.store import RedisStore
from tests.api.client import Client, tool_call
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("nothing_stored")


BAD_TOKENS = [
    None,
    "",
    "Bearer",
    "Bearer ",
    "Bearer x",
    "Basic dXNlcjpwYXNz",
    "Bearer hitl_0123456789ab_" + "A" * 43,
    "Bearer hitl_zz_x",
    "Bearer {token}x",
    "Bearer {other}",
    "Bearer {token}, Bearer {token}",
    "{token}",
]


@pytest.mark.parametrize("header", BAD_TOKENS)
@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/reviews/0-1"), ("POST", "/v1/reviews")])
async def test_without_a_good_token_nothing_is_read(
    client: Client, method: str, path: str, header: str | None
):
    """Unknown, cut, with another's secret: anyway to who asks (RFC 6750)."""
    text = client.token
    other = text[:18] + ("A" if text[18] != "A" else "B") + text[19:]
    given = header.format(token=text, other=other) if header is not None else None
    body = b"not even JSON" if method == "POST" else None
    headers = {} if given is None else {"Authorization": given}
    async with client.session.request(
        method, client.url + path, data=body, headers=headers
    ) as answer:
        problem = await answer.json(content_type="application/problem+json")

    assert (answer.status, problem["code"]) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


async def test_two_tokens_at_once_are_none(client: Client):
    two = [("Authorization", f"Bearer {client.token}")] * 2
    async with client.session.get(f"{client.url}/v1/reviews/0-1", headers=two) as answer:
        assert answer.status == 401


async def test_a_revoked_token_stops_at_once(client: Client, store: RedisStore):
    assert (await client.get("/v1/reviews?status=settled")).status == 200
    for token in await store.tokens():
        await store.drop_token(token.id)

    assert (await client.get("/v1/reviews?status=settled")).code == "unauthorized"


async def test_a_token_revoked_while_a_body_arrives_stores_nothing(
    client: Client, store: RedisStore, redis_url: str, monkeypatch: pytest.MonkeyPatch
):
    """A body may take eight seconds, and as long for its turn."""
    monkeypatch.setattr(routes, "TOKEN_CHECK_LASTS", 0.0)
    body = json.dumps({"thread_id": "t", "calls": [tool_call()]}).encode()
    with redis.Redis.from_url(redis_url) as other:

        def reads() -> int:
            stats: Any = other.info("commandstats")
            return stats.get("cmdstat_hget", {}).get("calls", 0)

        before = reads()

        async def slow_body() -> AsyncIterator[bytes]:
            yield body[:9]
            await wait_until("the token was read", lambda: reads() > before)
            for token in await store.tokens():
                await store.drop_token(token.id)
            yield body[9:]

        headers = {
            "Authorization": f"Bearer {client.token}",
            "Content-Type": "application/json",
        }
        async with client.session.post(
            f"{client.url}/v1/reviews", data=slow_body(), headers=headers
        ) as answer:
            assert answer.status == 401


async def test_a_token_in_the_address_is_none(client: Client):
    path = f"/v1/reviews?status=settled&access_token={client.token}"
    async with client.session.get(client.url + path) as answer:
        assert answer.status == 401


async def test_a_tokens_text_is_kept_nowhere(store: RedisStore, redis_url: str):
    token, text = Token.issue("billing", "", time.time())
    await store.save_token(token)

    assert text.split("_", 2)[2] not in token.model_dump_json()
    assert token.matches(text)
