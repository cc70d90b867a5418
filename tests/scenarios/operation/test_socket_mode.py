"""A bot behind a firewall: clicks arrive over sockets, and every promise holds as over HTTP."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import Any

import aiohttp
import pytest

from bot.app import Bot
from hitl_core import ToolCall
from tests.support.bots import CANARY, POLICY, Process, Scene, email, sql
from tests.support.slack import Message
from tests.support.sockets import OVER_SOCKETS, sockets, start_bot, start_process
from tests.support.waiting import wait_until

FAILPOINTS = "HITL_FAILPOINTS"


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.sandbox.socket_mode.enabled = True
    return scene


async def get(bot: Bot | Process, path: str) -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(bot.url + path) as answer,
    ):
        return answer.status, await answer.json()


async def _ready(bot: Bot) -> bool:
    return (await get(bot, "/readyz"))[0] == 200


async def test_three_calls_are_decided_over_sockets(scene: Scene) -> None:
    """Given three calls; when Alice approves one, edits one (a wrong value first, which the bot marks beside
    its field) and rejects one; then the agent continues with exactly that."""
    await start_bot(scene)
    gate = await scene.gate(POLICY.replace("{type: string}", '{type: string, pattern: "@"}'))
    waiting = scene.ask(gate, email("c1"), email("c2"), sql("c3"))
    card = await scene.card("send_email", "run_sql")

    assert (await scene.alice.press(card, "approve", 1))["ok"]
    card = await scene.card("approved by U0ALICE")
    await scene.alice.press(card, "edit", 1)
    wrong = await scene.alice.submit(to="nowhere", copies=3)
    assert "to" in next(iter(wrong["errors"]))
    assert await scene.alice.submit(to="a@b.example", copies=3) == {"ok": True, "closed": True}
    card = await scene.card("edited and approved by U0ALICE")
    await scene.alice.press(card, "reject", 1)
    assert not (await scene.alice.submit())["ok"]
    assert (await scene.alice.submit(message="No WHERE clause"))["ok"]

    outcome = await waiting
    changed = ToolCall("c2", "send_email", {"to": "a@b.example", "copies": 3})
    assert outcome.execute == (email("c1"), changed)
    assert "No WHERE clause" in outcome.answers[0].content
    picked = {delivery["socket"] for delivery in scene.sandbox.interactions.deliveries}
    assert picked == {socket.id for socket in sockets(scene)}


async def test_two_bots_have_four_sockets_and_each_click_reaches_one(scene: Scene) -> None:
    """Given two bots; when four clicks come at once; then each went to another socket, and every call has its
    decision."""
    await start_bot(scene)
    await start_bot(scene)
    gate = await scene.gate()
    waiting = [scene.ask(gate, email(), thread_id=f"t-{number}") for number in range(4)]
    cards = await _cards(scene, 4)
    await scene.all_shown()

    pressed = await asyncio.gather(*(scene.alice.press(card, "approve") for card in cards))

    assert pressed == [{"ok": True}] * 4
    picked = [delivery["socket"] for delivery in scene.sandbox.interactions.deliveries]
    assert sorted(picked) == sorted(socket.id for socket in sockets(scene))
    assert all([(await each).execute == (email(),) for each in waiting])


async def test_promise_2_two_people_on_two_bots_at_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given two bots and one card; when Alice and Bob press at the same moment, over a socket each; then one
    decision counts, and the other person is told who made it."""
    await start_bot(scene)
    await start_bot(scene)
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    go = scene.folder / "go"
    monkeypatch.setenv(FAILPOINTS, f"bot.before_commit=pause:{go}")
    both = [asyncio.create_task(who.press(card, "approve")) for who in (scene.alice, scene.bob)]
    await scene.wait_deliveries(2)
    go.touch()
    assert [await press for press in both] == [{"ok": True}] * 2

    decision = (await waiting).decision("c1")
    assert decision is not None
    assert decision.by is not None
    text = await scene.alice.notices() + await scene.bob.notices()
    assert text == [f"{decision.by.label} already approved send_email."]


async def test_promise_3_sockets_are_cut_under_clicks_and_the_bot_is_back_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault B5: given clicks that are about to be stored on both sockets; when these are cut; then their
    person sees a failure; the bot is back by itself, tells her on the same buttons that she has decided, and
    each call has its one decision."""
    bot = await start_bot(scene)
    gate = await scene.gate()
    waiting = [scene.ask(gate, email(), thread_id=f"t-{number}") for number in range(2)]
    cards = await _cards(scene, 2)
    await scene.all_shown()
    await scene.actor.inject_fault("http_500", method="chat.update")  # the cards stay as they are
    go = scene.folder / "go"
    monkeypatch.setenv(FAILPOINTS, f"bot.before_commit=pause:{go}")
    clicks = [asyncio.create_task(scene.alice.press(card, "approve")) for card in cards]
    await scene.wait_deliveries(2)

    cut = list(sockets(scene))
    for socket in cut:
        socket.abort()
    go.touch()
    assert [(await click)["ok"] for click in clicks] == [False, False]
    await wait_until("others are open", lambda: len(set(sockets(scene)) - set(cut)) == 2)
    await wait_until("it is ready", lambda: _ready(bot))
    for card in cards:
        assert (await scene.alice.press(card, "approve"))["ok"]

    assert await scene.alice.notices() == ["“Alice Ng” (U0ALICE) already approved send_email."] * 2
    assert all([(await each).execute == (email(),) for each in waiting])
    await scene.actor.inject_fault("ok")
    await scene.all_shown()
    assert len(await scene.cards()) == 2


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_no_click_fails_while_slack_renews_the_sockets(scene: Scene, reason: Any) -> None:
    """Fault B5: given Slack that announces the end of every socket and ends them when others are open; then
    each click in the meantime counts."""
    await start_bot(scene)
    gate = await scene.gate()
    waiting = [scene.ask(gate, email(), thread_id=f"t-{number}") for number in range(4)]
    cards = await _cards(scene, 4)
    await scene.all_shown()
    old = list(sockets(scene))
    for socket in old:
        await socket.disconnect(reason)
    pressed = [await scene.alice.press(card, "approve") for card in cards[:2]]
    await wait_until("others are open", lambda: len(sockets(scene)) == 4)
    for socket in old:
        await socket.close()
    pressed += [await scene.alice.press(card, "approve") for card in cards[2:]]

    assert pressed == [{"ok": True}] * 4
    assert all([(await each).execute == (email(),) for each in waiting])


async def test_a_bot_without_a_hello_is_not_ready(scene: Scene) -> None:
    """Given a bot that has lost its sockets, and Slack that gives it no other; then it is alive, not ready,
    and says why; clicks fail where the person sees it; when Slack is well, it is ready by itself."""
    bot = await start_bot(scene)
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    assert await _ready(bot)
    await scene.actor.inject_fault("http_500", method="apps.connections.open")
    for socket in list(sockets(scene)):
        socket.abort()
    await wait_until("it is not ready", lambda: _unready(bot))
    assert (await get(bot, "/healthz"))[0] == 200
    assert not (await scene.alice.press(card, "approve"))["ok"]

    await scene.actor.inject_fault("ok")
    await wait_until("it is ready", lambda: _ready(bot))
    assert (await scene.alice.press(card, "approve"))["ok"]
    assert (await waiting).execute == (email(),)


async def test_sigterm_finishes_what_came_over_a_socket(scene: Scene) -> None:
    """Given a click that is about to be stored; when the bot is told to end; then the click counts and is
    acknowledged, the bot ends with 0 in time, and its log (at DEBUG) quotes no argument."""
    go = scene.folder / "go"
    bot = await start_process(scene, f"bot.before_commit=pause:{go}", HITL_LOG_LEVEL="DEBUG")
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email", CANARY)
    await scene.wait_noted(gate, card)
    click = asyncio.create_task(scene.alice.press(card, "approve"))
    await scene.wait_deliveries(1)

    started = time.monotonic()
    bot.signal(signal.SIGTERM)
    await wait_until("the idle socket is closed", lambda: len(sockets(scene)) == 1)
    go.touch()
    assert (await click)["ok"]
    assert await bot.wait_end() == 0
    assert time.monotonic() - started < 30
    assert (await waiting).execute == (email(),)


async def test_slacks_http_endpoint_is_closed(scene: Scene) -> None:
    """Given a bot with Socket Mode and no signing secret; then nobody can send it a click over HTTP, not even
    with a signature made of an empty secret."""
    bot = await start_bot(scene)
    payload = {"type": "block_actions", "user": {"id": scene.alice.id}}
    status, _ = await scene.actor.send_payload(f"{bot.url}/slack/events", payload, "")
    assert status == 404


WRONG = [
    ({"SLACK_APP_TOKEN": "xoxb-sandbox"}, "SLACK_APP_TOKEN is not an app-level token"),
    ({"SLACK_APP_TOKEN": "xapp-wrong"}, "Slack refused SLACK_APP_TOKEN (invalid_auth)"),
    ({"SLACK_APP_TOKEN": "", "HITL_CHANNEL": ""}, "SLACK_SIGNING_SECRET and HITL_CHANNEL are not"),
]


@pytest.mark.parametrize(("changed", "named"), WRONG)
async def test_promise_10_a_wrong_token_is_one_sentence(
    scene: Scene, changed: dict[str, str], named: str
) -> None:
    bot = await scene.process("bot", "serve", env=scene.environment(**{**OVER_SOCKETS, **changed}))
    assert await bot.wait_end() == 2
    assert named in bot.output
    assert len(bot.output.splitlines()) == 1, bot.output


async def _unready(bot: Bot) -> bool:
    status, why = await get(bot, "/readyz")
    return status == 503 and "No socket to Slack is connected" in why["why"]


async def _cards(scene: Scene, count: int) -> list[Message]:
    async def all_there() -> bool:
        return len(await scene.cards()) == count

    await wait_until(f"{count} cards", all_there)
    return [{**card, "channel": "C0APPROVE"} for card in await scene.cards()]
