"""Sockets to Slack: one that ends is replaced, and each click is acknowledged over the socket that it came
from.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.slack.transport.socket_connection import SocketTimeouts
from bot.channels.slack.transport.socket_mode import SocketModeClient, open_socket_mode
from hitl_core.errors import HitlError, SettingsError
from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.support.slack import ALICE, APPROVALS
from tests.support.waiting import wait_until

pytestmark = pytest.mark.servers

QUICK = SocketTimeouts(
    hello_timeout=0.4,
    heartbeat_interval=0.1,
    first_retry_delay=0.02,
    max_retry_delay=0.2,
    disconnect_timeout=0.5,
    drain_timeout=0.5,
)
SECRET = "canary-77c1"


class Stage:
    """A workspace with one button, and a Bolt app whose listener waits for `go`."""

    def __init__(self, sandbox: Sandbox, actor: Actor) -> None:
        self.sandbox, self.actor = sandbox, actor
        self.begun = 0
        self.go, self.leaving = asyncio.Event(), asyncio.Event()
        self.go.set()
        self.bolt = AsyncApp(
            name="stage",
            client=AsyncWebClient(sandbox.app.token, base_url=sandbox.api_url),
            request_verification_enabled=False,
            process_before_response=True,
        )
        self.bolt.action("press")(self._pressed)

    async def _pressed(self, ack: Any) -> None:
        self.begun += 1
        await self.go.wait()
        await ack()

    def sockets(
        self, token: str = "", pace: SocketTimeouts = QUICK
    ) -> AbstractAsyncContextManager[SocketModeClient]:
        token = token or self.sandbox.app.app_token
        return open_socket_mode(self.bolt, token, self.sandbox.api_url, self.leaving, pace)

    @property
    def connections(self) -> list[Any]:
        return self.sandbox.socket_mode.connections

    async def two(self) -> None:
        await wait_until("two sockets are open", lambda: len(self.connections) == 2)

    async def post(self, action_id: str) -> str:
        button = {"type": "button", "text": {"type": "plain_text", "text": "Press"}}
        press = {**button, "action_id": action_id, "value": SECRET}
        client: Any = self.bolt.client
        blocks = [{"type": "actions", "block_id": "b", "elements": [press]}]
        posted = await client.chat_postMessage(channel=APPROVALS, text="card", blocks=blocks)
        return str(posted["ts"])

    async def press(self, action_id: str = "press") -> dict[str, Any]:
        return await self.actor.click(ALICE, APPROVALS, await self.post(action_id), action_id)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with running_sandbox(answer_timeout=12.0) as sandbox, Actor(sandbox.url) as actor:
        sandbox.socket_mode.enabled = True
        yield Stage(sandbox, actor)


def always_connected(held: SocketModeClient) -> bool:
    try:
        held.check()
    except HitlError:
        return False
    return True


async def test_two_sockets_carry_the_clicks(stage: Stage) -> None:
    async with stage.sockets() as held:
        held.check()
        await stage.two()
        for _ in range(4):
            assert await stage.press() == {"ok": True}
        picked = [delivery["socket"] for delivery in stage.sandbox.interactions.deliveries]
        assert sorted(map(picked.count, {one.id for one in stage.connections})) == [2, 2]
    await wait_until("none is open", lambda: not stage.connections)


@pytest.mark.parametrize("token", ["xapp-wrong", "xoxb-sandbox"])
async def test_a_wrong_token_is_one_sentence(stage: Stage, token: str) -> None:
    with pytest.raises(SettingsError, match=r"Slack refused SLACK_APP_TOKEN \(.*connections:write"):
        async with stage.sockets(token):
            pass


async def test_a_token_without_its_scope_is_one_sentence(stage: Stage) -> None:
    stage.sandbox.socket_mode.scopes = frozenset({"authorizations:read"})
    with pytest.raises(SettingsError, match=r"missing_scope"):
        async with stage.sockets():
            pass


async def test_socket_mode_that_is_off_is_one_sentence(stage: Stage) -> None:
    stage.sandbox.socket_mode.enabled = False
    with pytest.raises(SettingsError, match=r"Socket Mode is off for this app\. Turn it on"):
        async with stage.sockets():
            pass


@pytest.mark.parametrize("mode", ["ratelimited", "http_500", "hang", "ok_but_reset"])
async def test_slack_in_trouble_is_waited_out(stage: Stage, mode: str) -> None:
    """Given Slack that gives no address; then the sockets are not ready and say why; when Slack is well, then
    they connect by themselves."""
    await stage.actor.inject_fault(mode, method="apps.connections.open")
    async with stage.sockets() as held:
        with pytest.raises(
            HitlError, match=r"No socket to Slack is connected, so clicks fail: .+\."
        ):
            held.check()
        await stage.actor.inject_fault("ok")
        await wait_until("connected", lambda: always_connected(held))
        assert await stage.press() == {"ok": True}


async def test_the_wait_that_slack_asks_for_is_kept(stage: Stage) -> None:
    await stage.actor.inject_fault(
        "ratelimited", method="apps.connections.open", retry_after=1, times=2
    )
    async with stage.sockets() as held:
        await wait_until("connected", lambda: always_connected(held))
    first, _, *later = [call["at"] for call in stage.sandbox.api.calls]
    assert min(later) - first >= 0.9


async def test_without_a_hello_nothing_is_ready(stage: Stage) -> None:
    """Given Slack that takes sockets and says nothing; then they are not ready, and not kept either."""
    stage.sandbox.socket_mode.sends_hello = False
    async with stage.sockets() as held:
        await wait_until("why is known", lambda: "no hello in time" in held._last_problem)
        await wait_until("a socket is open", lambda: stage.connections)
        with pytest.raises(HitlError, match="Slack said no hello in time"):
            held.check()
        assert len(stage.connections) <= 4
        stage.sandbox.socket_mode.sends_hello = True
        await wait_until("connected", lambda: always_connected(held))
        await stage.two()


@pytest.mark.parametrize("end", ["cut", "close", "freeze"])
async def test_a_lost_socket_is_replaced(stage: Stage, end: str) -> None:
    """Given sockets that are cut, closed, or dead without a word; then others take their place."""
    async with stage.sockets() as held:
        await stage.two()
        lost = list(stage.connections)
        for one in lost:
            if end == "cut":
                one.abort()
            elif end == "close":
                await one.close()
            else:
                one.frozen = True
        await wait_until("the old ones are gone", lambda: not set(lost) & set(stage.connections))
        await stage.two()
        await wait_until("connected", lambda: always_connected(held))
        assert await stage.press() == {"ok": True}


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_what_slack_is_about_to_end_is_replaced_before(stage: Stage, reason: Any) -> None:
    """Given a click under way on each socket, which Slack then announces to end; then new sockets are open
    beside them, and these clicks and later ones are answered over the old ones as well."""
    async with stage.sockets(pace=replace(QUICK, disconnect_timeout=30.0)) as held:
        await stage.two()
        old = list(stage.connections)
        stage.go.clear()
        clicks = [asyncio.create_task(stage.press()) for _ in old]
        await wait_until("both are begun", lambda: stage.begun == 2)
        for one in old:
            await one.disconnect(reason)
        await wait_until("four are open", lambda: len(stage.connections) == 4)
        stage.go.set()
        assert [await click for click in clicks] == [{"ok": True}] * 2
        assert [await stage.press() for _ in range(4)] == [{"ok": True}] * 4
        picked = [delivery["socket"] for delivery in stage.sandbox.interactions.deliveries[2:]]
        assert sorted(picked) == sorted(one.id for one in stage.connections)
        for one in old:
            await one.close()
        assert await stage.press() == {"ok": True}
        held.check()


async def test_what_slack_announced_to_end_and_did_not_is_closed(stage: Stage) -> None:
    async with stage.sockets():
        await stage.two()
        old = list(stage.connections)
        await old[0].disconnect("warning")
        await wait_until("it is gone", lambda: old[0] not in stage.connections)
        await stage.two()
        assert old[1] in stage.connections


async def test_too_many_sockets_are_tried_again_without_haste(stage: Stage) -> None:
    """Given ten sockets of other bots; then this one is not ready; when one of theirs ends, it is."""
    open_ones = stage.sandbox.socket_mode.connections
    async with stage.sockets(), stage.sockets(), stage.sockets(), stage.sockets():
        async with stage.sockets():
            await wait_until("ten are open", lambda: len(open_ones) == 10)
            async with stage.sockets() as beyond:
                with pytest.raises(HitlError, match="too_many_websockets"):
                    beyond.check()
                asked = len(await stage.actor.calls("apps.connections.open"))
                assert asked - 10 <= 20
        async with stage.sockets() as beyond:
            assert always_connected(beyond)


async def test_what_was_begun_is_answered_before_the_end(stage: Stage) -> None:
    """Given a click under way; when the bot leaves, then it is answered, and only then its socket is closed;
    none is opened again."""
    async with stage.sockets() as held:
        await stage.two()
        stage.go.clear()
        click = asyncio.create_task(stage.press())
        await wait_until("it is begun", lambda: stage.begun == 1)
        stage.leaving.set()
        await wait_until("the idle one is closed", lambda: len(stage.connections) == 1)
        assert not click.done()
        stage.go.set()
        assert await click == {"ok": True}
        await wait_until("none is open", lambda: not stage.connections)
        assert not always_connected(held)
    assert stage.connections == []


async def test_the_end_waits_for_nobody_for_ever(stage: Stage) -> None:
    """Given a listener that hangs; when the bot leaves, then it ends anyway, within its time."""
    async with stage.sockets():
        await stage.two()
        stage.go.clear()
        click = asyncio.create_task(stage.press())
        await wait_until("it is begun", lambda: stage.begun == 1)
        started = time.monotonic()
    assert 0.4 < time.monotonic() - started < 30
    assert not (await click)["ok"]


@pytest.mark.parametrize("action_id", ["broken", "nobody's"])
async def test_what_could_not_be_done_gets_no_receipt(stage: Stage, action_id: str) -> None:
    """Given a listener that raises, and a button without one; then the person sees a failure."""

    async def fail() -> None:
        raise RuntimeError

    stage.bolt.action("broken")(fail)
    stage.sandbox.app_client.answer_timeout = 0.3
    async with stage.sockets():
        assert not (await stage.press(action_id))["ok"]
        assert await stage.press() == {"ok": True}


async def test_what_is_no_payload_ends_nothing(stage: Stage) -> None:
    async with stage.sockets() as held:
        await stage.two()
        for one in stage.connections:
            for text in ("{", "[" * 200_000):
                await one._ws.send_str(text)
            for frame in ([], {}, {"type": "news"}, {"envelope_id": "e", "payload": [1]}):
                await one.send(frame)
        assert [await stage.press() for _ in range(2)] == [{"ok": True}] * 2
        held.check()


async def test_a_frame_of_many_values_is_not_parsed(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """attack 7, M2: given a frame that would hold the event loop for half a second, then it is dropped before
    it is parsed, as over HTTP, and clicks go on over the same sockets."""
    async with stage.sockets() as held:
        await stage.two()
        before = list(stage.connections)
        many = "[" + "[]," * 900_000 + "[]]"
        for text in (many, f'{{"envelope_id": "e", "payload": {many}}}'):
            await before[0]._ws.send_str(text)
        assert [await stage.press() for _ in range(2)] == [{"ok": True}] * 2
        await wait_until("both are dropped", lambda: caplog.text.count("JSON values") == 2)
        assert list(stage.connections) == before
        held.check()


async def test_no_log_quotes_a_payload_or_a_ticket(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a log at DEBUG (Slack's libraries at INFO, as the bot has it), a click, one whose receipt comes
    too late, and an address that is refused."""
    caplog.set_level(logging.DEBUG)
    for library in ("slack_sdk", "slack_bolt"):
        caplog.set_level(logging.INFO, logger=library)

    async with stage.sockets():
        await stage.two()
        await stage.press()
        stage.go.clear()
        click = asyncio.create_task(stage.press())
        await wait_until("it is begun", lambda: stage.begun == 2)
        for one in list(stage.connections):
            one.abort()
        assert not (await click)["ok"]
        stage.go.set()
        await wait_until(
            "it came too late", lambda: "an acknowledgement was too late" in caplog.text
        )
        await stage.two()
        stage.sandbox.socket_mode.open = lambda: {
            "url": f"{stage.sandbox.url}/link/?ticket={SECRET}"
        }
        stage.connections[0].abort()
        await wait_until("it was tried", lambda: "accepted no connection" in caplog.text)
    assert SECRET not in caplog.text
