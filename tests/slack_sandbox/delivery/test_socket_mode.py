"""Socket Mode as in Slack: addresses for one use, hello, envelopes, receipts, and every way in which a socket
ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from aiohttp import ClientWebSocketResponse, WSMsgType, WSServerHandshakeError
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import (
    HERE,
    Json,
    Slack,
    actions,
    button,
    modal,
    post,
    refusal,
    slack,
    text_field,
)
from tests.support.clock import Clock
from tests.support.waiting import wait_until

OPEN = "apps.connections.open"
SLOW = "The app did not respond within 3 seconds. Try again?"
Dial = Callable[[], Awaitable[ClientWebSocketResponse]]


@pytest.fixture
async def sandbox(plain_bot: PlainBot) -> AsyncIterator[Sandbox]:
    """An app with Socket Mode, whose old address is still known."""
    async with running_sandbox(plain_bot.url, answer_timeout=1.0) as running:
        running.socket_mode.enabled = True
        yield running


@pytest.fixture
def own(sandbox: Sandbox) -> Slack:
    """Slack's client with the app-level token."""
    return AsyncWebClient(sandbox.app.app_token, base_url=sandbox.api_url)


@pytest.fixture
async def dial(own: Slack) -> AsyncIterator[Dial]:
    """Opens one more socket of the app."""
    async with aiohttp.ClientSession() as session:
        held: list[ClientWebSocketResponse] = []

        async def one() -> ClientWebSocketResponse:
            url = (await own.apps_connections_open(app_token=own.token))["url"]
            held.append(await session.ws_connect(url, autoping=False))
            return held[-1]

        yield one


async def start_click(actor: Actor, client: Slack) -> asyncio.Task[Json]:
    """Alice has pressed, and waits for what comes of it."""
    ts = await post(client)
    return asyncio.create_task(actor.click("U0ALICE", HERE, ts, "approve", block_id="b1"))


async def test_an_address_needs_the_apps_own_token(sandbox: Sandbox, own: Slack) -> None:
    answer = await own.apps_connections_open(app_token=own.token)
    assert answer["url"].startswith(
        f"ws://127.0.0.1:{sandbox.url.rpartition(':')[2]}/link/?ticket="
    )

    for token, error in (
        (sandbox.app.token, "not_allowed_token_type"),
        ("xapp-other", "invalid_auth"),
        ("", "not_authed"),
    ):
        client: Slack = AsyncWebClient(token, base_url=sandbox.api_url)
        assert (await refusal(client, OPEN))["error"] == error
    assert (await refusal(own, "auth.test"))["error"] == "not_allowed_token_type"
    sandbox.socket_mode.scopes = frozenset({"authorizations:read"})
    assert (await refusal(own, OPEN))["needed"] == "connections:write"


async def test_an_address_is_only_given_to_a_post(sandbox: Sandbox, own: Slack) -> None:
    headers = {"Authorization": f"Bearer {own.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(sandbox.api_url + OPEN) as answer,
    ):
        assert (await answer.json())["error"] == "insecure_request"


async def test_an_address_is_good_once_and_soon() -> None:
    clock = Clock()
    async with running_sandbox(now=clock) as sandbox, aiohttp.ClientSession() as session:
        sandbox.socket_mode.enabled = True
        spent, old = sandbox.socket_mode.open()["url"], sandbox.socket_mode.open()["url"]
        await session.ws_connect(spent)
        clock.now += 31
        for url in (spent, old, f"{sandbox.url}/link/"):
            with pytest.raises(WSServerHandshakeError):
                await session.ws_connect(url)


async def test_slack_says_hello(dial: Dial) -> None:
    first, second = await dial(), await dial()
    assert await first.receive_json() == {
        "type": "hello",
        "connection_info": {"app_id": "A0APPROVER"},
        "num_connections": 1,
        "debug_info": {
            "host": "applink-sandbox",
            "build_number": 1,
            "approximate_connection_time": 18060,
        },
    }
    assert (await second.receive_json())["num_connections"] == 2


async def test_a_click_is_an_envelope_and_waits_for_its_receipt(
    dial: Dial, actor: Actor, client: Slack, plain_bot: PlainBot
) -> None:
    ws = await dial()
    await ws.receive_json()
    click = await start_click(actor, client)
    envelope = await ws.receive_json()
    assert envelope["type"] == "interactive"
    assert envelope["accepts_response_payload"] is False
    assert envelope["payload"]["type"] == "block_actions"

    await ws.send_json({"envelope_id": "another"})
    await ws.send_str("{")
    assert not click.done()
    await ws.send_json({"envelope_id": envelope["envelope_id"], "payload": {"text": "unheard"}})
    assert await click == {"ok": True}
    assert plain_bot.payloads == [], "nothing goes to the old address"


async def test_each_payload_goes_to_one_socket_and_is_answered_there(
    dial: Dial, actor: Actor, client: Slack, sandbox: Sandbox
) -> None:
    sockets = [await dial(), await dial()]
    for ws in sockets:
        await ws.receive_json()
    clicks = [await start_click(actor, client) for _ in sockets]
    one, other = [await ws.receive_json() for ws in sockets]
    assert one["envelope_id"] != other["envelope_id"]

    await sockets[0].send_json({"envelope_id": one["envelope_id"]})
    await sockets[0].send_json({"envelope_id": other["envelope_id"]})
    answers = [await click for click in clicks]
    assert sorted(answer["ok"] for answer in answers) == [False, True]
    picked = [delivery["socket"] for delivery in sandbox.interactions.deliveries]
    assert sorted(picked) == sorted(one.id for one in sandbox.socket_mode.connections)


async def test_without_a_socket_or_a_receipt_the_person_sees_it(
    dial: Dial, actor: Actor, client: Slack, sandbox: Sandbox
) -> None:
    assert await (await start_click(actor, client)) == {"ok": False, "error": SLOW}
    ws = await dial()
    await ws.receive_json()
    click = await start_click(actor, client)
    await ws.receive_json()
    assert await click == {"ok": False, "error": SLOW}

    click = await start_click(actor, client)
    await ws.receive_json()
    sandbox.socket_mode.connections[0].abort()
    assert await click == {"ok": False, "error": SLOW}
    await wait_until("it is gone", lambda: not sandbox.socket_mode.connections)


async def test_slack_tells_before_it_ends_a_socket(dial: Dial, sandbox: Sandbox) -> None:
    ws = await dial()
    await ws.receive_json()
    (connection,) = sandbox.socket_mode.connections
    await connection.disconnect("warning")
    assert await ws.receive_json() == {
        "type": "disconnect",
        "reason": "warning",
        "debug_info": {"host": "applink-sandbox"},
    }
    assert sandbox.socket_mode.connections == [connection], "it is open until it is closed"
    closing = asyncio.create_task(connection.close())
    assert (await ws.receive()).type is WSMsgType.CLOSE
    await closing


async def test_ten_sockets_and_no_more(dial: Dial, sandbox: Sandbox) -> None:
    for _ in range(10):
        assert (await (await dial()).receive_json())["type"] == "hello"
    beyond = await dial()
    assert (await beyond.receive_json())["reason"] == "too_many_websockets"
    assert (await beyond.receive()).type is WSMsgType.CLOSE
    assert len(sandbox.socket_mode.connections) == 10


async def test_socket_mode_turned_off(
    dial: Dial, actor: Actor, client: Slack, sandbox: Sandbox, plain_bot: PlainBot
) -> None:
    """Given a socket; when Socket Mode is turned off; then it ends, a new one is refused, and clicks go to
    the app's address again."""
    ws = await dial()
    await ws.receive_json()
    turned = asyncio.create_task(sandbox.socket_mode.turn_off())
    assert (await ws.receive_json())["reason"] == "link_disabled"
    assert (await ws.receive()).type is WSMsgType.CLOSE
    await turned
    assert (await (await dial()).receive_json())["reason"] == "link_disabled"
    assert await (await start_click(actor, client)) == {"ok": True}
    assert len(plain_bot.payloads) == 1


async def test_pings_are_answered_unless_the_link_is_dead(dial: Dial, sandbox: Sandbox) -> None:
    ws = await dial()
    await ws.receive_json()
    await ws.ping(b"are you there")
    pong = await ws.receive()
    assert (pong.type, pong.data) == (WSMsgType.PONG, b"are you there")
    sandbox.socket_mode.connections[0].frozen = True
    await ws.ping(b"and now")
    with pytest.raises(TimeoutError):
        await ws.receive(timeout=0.1)


async def test_bolts_own_client_lives_in_it(sandbox: Sandbox, actor: Actor) -> None:
    """Given Bolt's Socket Mode handler; then a click opens a modal, and what the modal's receipt carries is
    done."""
    client = slack(sandbox)
    bolt = AsyncApp(client=client, request_verification_enabled=False, process_before_response=True)

    async def edit(ack: Any, body: Json) -> None:
        await client.views_open(
            trigger_id=body["trigger_id"], view=modal(text_field(), callback_id="edit")
        )
        await ack()

    async def on_submission(ack: Any, view: Json) -> None:
        named = view["state"]["values"]["name"]["v"]["value"]
        known = {} if named == "Jo" else {"response_action": "errors", "errors": {"name": "Who?"}}
        await ack(**known)

    bolt.action("edit")(edit)
    bolt.view("edit")(on_submission)
    handler = AsyncSocketModeHandler(
        bolt, sandbox.app.app_token, web_client=AsyncWebClient(base_url=sandbox.api_url)
    )
    await handler.connect_async()
    try:
        ts = await post(client, [actions(button("edit"))])
        assert await actor.click("U0ALICE", HERE, ts, "edit") == {"ok": True}
        refused = await actor.submit("U0ALICE", {"name": "Ho"})
        assert refused == {"ok": False, "errors": {"name": "Who?"}}
        assert await actor.submit("U0ALICE", {"name": "Jo"}) == {"ok": True, "closed": True}
    finally:
        await handler.close_async()
