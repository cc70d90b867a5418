"""Answers of Microsoft that differ from its documentation: only ChannelErrors are raised."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import cycle
from typing import Any

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.channels.contract import ChannelError, LookupFailed, NotFound, NotSent, Unreachable
from bot.channels.teams import TeamsChannel
from bot.channels.teams.transport import team_channels
from bot.channels.teams.transport.bounded_client import MAX_ANSWER
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.channels.teams.transport.calls import CARD, ROOM
from tests.support.teams.local import install_everywhere, make_channel

CHAT, ALICE = Place(f"teams:{ids.GROUP_CHAT}"), Place(f"teams:{ids.ALICE}")
LOOK_UPS: dict[str, Callable[[TeamsChannel], Awaitable[object]]] = {
    "person": lambda channel: channel.person(ids.ALICE),
    "group_members": lambda channel: channel.group_members(ids.OPS_GROUP),
    "members": lambda channel: channel.conversation_members(ids.GROUP_CHAT),
    "size": lambda channel: channel.conversation_size(CHAT),
    "check": lambda channel: channel.check_place(CHAT),
    "audiences": lambda channel: channel.audiences(ids.ALICE),
    "name": lambda channel: channel.conversation_id(Place("teams:Nowhere")),
    "messages": lambda channel: channel.find_messages(ROOM, "1-abc", 0.0),
    "post": lambda channel: channel.post(ALICE, CARD),
}
WRONG = (None, 10**400, [None], {})


@pytest.fixture
async def channel(sandbox: Sandbox) -> AsyncIterator[TeamsChannel]:
    channel = make_channel(sandbox, MemoryStore())
    await install_everywhere(sandbox, channel)
    await channel.start()
    await channel.post(ROOM, CARD)
    yield channel
    await channel.close()


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of each part of a JSON value; of a list the first item alone."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*at, key))
    elif isinstance(value, list) and value:
        yield from paths(value[0], (*at, 0))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    result = copy.copy(value)
    result[path[0]] = changed(value[path[0]], path[1:], new)
    return result


class Spoiler:
    """Changes one field of one answer, or keeps all answers."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.change: tuple[str, tuple[Any, ...], Any] | None = None

    async def spoil(self, response: httpx.Response) -> None:
        await response.aread()
        body = json.loads(response.content or b"null")
        key = f"{response.request.method} {response.url.path}"
        if self.change is None:
            self.answers[key] = body
        elif self.change[0] == key:
            data = json.dumps(changed(body, *self.change[1:])).encode()
            setattr(response, "_content", data)  # noqa: B010


async def test_an_answer_of_another_shape_is_a_channel_error(
    channel: TeamsChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given each look-up, and each field of each of its answers with a value of another kind; then it says
    that it failed, or ignores the field."""
    monkeypatch.setattr(team_channels, "_MAX_AGE", -1.0)
    monkeypatch.setattr(team_channels, "_RETRY_AFTER", -1.0)
    spoiler = Spoiler()
    channel.http.event_hooks = {"response": [spoiler.spoil]}
    for name, look_up in LOOK_UPS.items():
        spoiler.answers, spoiler.change = {}, None
        with suppress(NotFound):
            await look_up(channel)
        assert spoiler.answers, name
        for key, body in spoiler.answers.copy().items():
            for path, wrong in zip(paths(body), cycle(WRONG), strict=False):
                spoiler.change = (key, path, wrong)
                try:
                    await look_up(channel)
                except ChannelError:
                    pass
                except Exception as error:
                    raise AssertionError(f"{name}: {key} {path} = {wrong!r:.20}") from error


# ------------------------------------------------------------------ what certainly had no effect


async def test_what_teams_surely_did_not_do_is_known(
    sandbox: Sandbox, channel: TeamsChannel
) -> None:
    """Given a post without a token, or one that Teams refuses for now; then nobody needs to look for it."""
    for status in (401, 412):
        sandbox.faults.add("answer", "post", times=1, status=status, body="{}")
        with pytest.raises(NotSent):
            await channel.post(ROOM, CARD)
    sandbox.faults.add("answer", "post", times=1, status=401, body="{}")
    with pytest.raises(NotSent):
        await channel.post(ROOM, CARD)
    sandbox.faults.add("down", "token", times=1)
    with pytest.raises(NotSent, match="Entra"):
        await channel.post(ROOM, CARD)


@pytest.mark.parametrize("status", [408, 500, 503])
async def test_after_a_lost_answer_it_is_not_known(
    sandbox: Sandbox, channel: TeamsChannel, status: int
) -> None:
    sandbox.faults.add("answer", "post", times=1, status=status, body="{}")
    with pytest.raises(Unreachable) as caught:
        await channel.post(ROOM, CARD)
    assert not isinstance(caught.value, NotSent)


async def test_a_refused_connection_did_nothing(channel: TeamsChannel) -> None:
    async def refuse(request: httpx.Request) -> None:
        raise httpx.ConnectError("refused", request=request)

    channel.http.event_hooks = {"request": [refuse]}
    with pytest.raises(NotSent):
        await channel.post(ROOM, CARD)


async def test_our_token_does_not_follow_a_page_without_tls(
    sandbox: Sandbox, channel: TeamsChannel
) -> None:
    address = sandbox.url.replace("http://", "https://")
    page = {"value": [], "@odata.nextLink": f"{address}/v1.0/next"}
    sandbox.faults.add("answer", "graph_members", status=200, body=json.dumps(page))
    with pytest.raises(LookupFailed, match="can't be read"):
        await channel.group_members(ids.OPS_GROUP)


async def test_an_answer_has_a_limit(
    sandbox: Sandbox, channel: TeamsChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an answer that is longer than any real one; then it is not read to its end, and the look-up has
    failed."""
    read = 0
    real = httpx.Response.aiter_bytes

    async def count(self: httpx.Response, size: int | None = None) -> AsyncIterator[bytes]:
        nonlocal read
        async for part in real(self, size):
            read += len(part)
            yield part

    monkeypatch.setattr(httpx.Response, "aiter_bytes", count)
    body = json.dumps({"value": [], "more": "x" * (4 * MAX_ANSWER)})
    sandbox.faults.add("answer", "graph_members", status=200, body=body)
    with pytest.raises(Unreachable, match="transitiveMembers: ReadError"):
        await channel.group_members(ids.OPS_GROUP)
    assert read <= 2 * MAX_ANSWER


async def test_an_answer_is_packed_at_most_once(channel: TeamsChannel) -> None:
    """Given an answer that is packed twice; then it is not unpacked: 500 bytes can have 200 MB in them."""
    twice = gzip.compress(gzip.compress(b"\0" * 1_000_000))

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=twice, headers={"Content-Encoding": "gzip, gzip"})

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app) as server:
        with pytest.raises(httpx.ReadError, match="packed"):
            await channel.http.get(str(server.make_url("/")))
