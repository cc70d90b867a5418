"""One bot with Slack and the text channel: people may decide one review in either channel."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bot.app import running_bot
from bot.outbox import HomeRefresher
from bot.settings import Settings
from hitl_core import Outcome, ToolCall
from tests.support.bots import QUICK, Scene
from tests.support.clicks import freeze_cards
from tests.support.slack import OPS
from tests.support.text_bot import TextConnection

EMAIL = ToolCall("c1", "send_email", {"to": "jo@example.com", "copies": 1})
APPROVALS, ORDERS = "slack:#agent-approvals", "text:#orders"
#: Alice of Slack is Ada of the text channel.
PEOPLE = "people:\n  - [slack:U0ALICE, text:p-ada]\n"


@pytest.fixture
async def text(scene: Scene) -> TextConnection:
    """The text channel of the scene's bot."""
    text = TextConnection()
    await text.channel.start()
    scene.extra.append(text)
    return text


async def ask(
    scene: Scene, *, requester: str | None = None, **policy: Any
) -> asyncio.Task[Outcome]:
    gate = await scene.gate(json.dumps({"default": "review", **policy}))
    return scene.ask(gate, EMAIL, requester=requester)


async def with_people(scene: Scene) -> None:
    """A bot that knows who is one human."""
    file = Path(scene.folder) / "people.yaml"
    file.write_text(PEOPLE)
    await scene.bot(HITL_PEOPLE=str(file))


async def executed(waiting: asyncio.Task[Outcome]) -> int:
    return len((await asyncio.wait_for(waiting, 20)).execute)


async def test_an_escalation_leads_from_the_text_channel_to_slack(
    scene: Scene, text: TextConnection
) -> None:
    """Given a review in the text channel; when Ada escalates it to a channel of Slack, then Carl reads her
    reason there and approves; and the first message says who decided."""
    await scene.bot()
    waiting = await ask(scene, notify=[ORDERS], escalate=[{"after": "1h", "to": "slack:#team-ops"}])
    first = await text.message("send_email")
    form = await text.network.press("p-ada", "Escalate to #team-ops in Slack", first)
    await text.network.write("p-ada", "Not my customer", first, form)

    card = await scene.card("send_email", "Not my customer", channel=OPS)
    await scene.carl.press(card, "approve")

    assert await executed(waiting) == 1
    await text.message("approved by", "Carl Weiss", "U0CARL")
    await scene.card("approved by U0CARL", channel=OPS)


async def test_an_escalation_leads_from_slack_to_the_text_channel(
    scene: Scene, text: TextConnection
) -> None:
    """Given a card in Slack that nobody decides in time; then it is in the text channel as well, and a
    decision there changes the card in Slack."""
    await scene.bot()
    waiting = await ask(scene, notify=[APPROVALS], escalate=[{"after": "1s", "to": "text:#ops"}])
    message = await text.message("send_email", room="r-ops")
    await text.network.press("p-cy", "Approve", message)

    assert await executed(waiting) == 1
    await scene.card("approved by", "Cy Young")
    await text.message("approved by @p-cy", room="r-ops")


async def test_promise_2_one_review_in_two_channels_is_decided_once(
    scene: Scene, text: TextConnection
) -> None:
    """Given a review that both channels show; when Bob presses in Slack and Bea in the text channel at once,
    then one of them decides, the other one is told, and both messages say the same."""
    await scene.bot()
    waiting = await ask(scene, notify=[APPROVALS, ORDERS])
    card, message = await scene.card("send_email"), await text.message("send_email")

    async with freeze_cards(scene.actor):
        _, notice = await asyncio.gather(
            scene.bob.press(card, "approve"), text.network.press("p-bea", "Approve", message)
        )

    assert await executed(waiting) == 1
    notices = [*await scene.bob.notices(), *notice.lines]
    assert len([one for one in notices if "already approved" in one]) == 1
    by = "Bob Reyes" if notice.lines else "p-bea"
    await text.message("approved by", by)
    await scene.card("approved by", "U0BOB" if notice.lines else "Bea Sand")


async def test_one_human_in_two_channels_has_one_vote(scene: Scene, text: TextConnection) -> None:
    """Given a quorum of two, and Alice, who is Ada in the text channel; when she approves in both, then it
    counts once, and Bob's approval is the second one."""
    await with_people(scene)
    reviewers = {"users": ["U0ALICE", "U0BOB", "text:p-ada"], "quorum": 2}
    waiting = await ask(scene, notify=[APPROVALS, ORDERS], reviewers=reviewers)
    card, message = await scene.card("send_email"), await text.message("send_email")

    await scene.alice.press(card, "approve")
    again = await text.network.press("p-ada", "Approve", await text.message("1 of 2 approvals"))
    assert again.lines
    assert not waiting.done()
    await scene.bob.press(card, "approve")

    assert await executed(waiting) == 1
    assert message.id in text.network.messages


async def test_nobody_approves_their_own_request_from_the_other_side(
    scene: Scene, text: TextConnection
) -> None:
    """Given Alice's request, which she must not approve; when she presses as Ada in the text channel, then
    she is told, and Bob has to approve."""
    await with_people(scene)
    reviewers = {"users": ["U0ALICE", "U0BOB", "text:p-ada"], "exclude_requester": True}
    notify = [APPROVALS, ORDERS]
    waiting = await ask(scene, requester="U0ALICE", notify=notify, reviewers=reviewers)
    card, message = await scene.card("send_email"), await text.message("send_email")

    notice = await text.network.press("p-ada", "Approve", message)
    assert notice.lines
    assert not waiting.done()
    await scene.bob.press(card, "approve")

    assert await executed(waiting) == 1


@pytest.mark.every_reply
async def test_a_home_of_the_second_channel_is_updated_by_the_workers_half(
    scene: Scene, text: TextConnection
) -> None:
    """Given an HTTP bot and a worker bot, and Ada, who opened her Home in the text channel; when an agent
    asks, then the worker bot shows it there; and she approves it there."""
    settings = Settings.from_environment(scene.environment())
    workers, http = [
        await scene.stack.enter_async_context(running_bot(settings, QUICK, half, extra=[text]))
        for half in ("workers", "http")
    ]
    scene.sandbox.bot_url = http.endpoints["slack"]
    empty = await text.network.open_home("p-ada")
    assert "Nothing waits for you" in empty.lines
    waiting = await ask(scene, notify=[ORDERS])
    await text.message("send_email")

    assert workers.workers is not None
    (refresher,) = (one for one in workers.workers.others if isinstance(one, HomeRefresher))
    await refresher.tick()
    assert "1 review waits for you" in text.network.homes["p-ada"].lines
    notice = await text.network.press_in_home("p-ada", "Approve 1")

    assert not notice.lines
    assert await executed(waiting) == 1
    home = text.network.homes["p-ada"].lines
    assert "Nothing waits for you" in home
    assert any("send_email" in line for line in home[1:])  # among those that Ada decided


async def test_a_channel_that_the_bot_does_not_have_goes_to_the_fallback(
    scene: Scene,
) -> None:
    """Given a bot without the text channel, and a review for it; then its fallback in Slack shows it, with
    the reason."""
    await scene.bot()
    waiting = await ask(scene, notify=[ORDERS], fallback=APPROVALS)
    card = await scene.card("send_email", 'no channel "text"')
    await scene.alice.press(card, "approve")
    assert await executed(waiting) == 1
