"""A bot is killed (kill -9) at one point of a click, over HTTP and over sockets; then another bot runs."""

from __future__ import annotations

import pytest

from hitl_core import Outcome
from tests.support.bots import Scene, email
from tests.support.clicks import freeze_cards
from tests.support.slack import review_of
from tests.support.sockets import OVER_SOCKETS, sockets
from tests.support.waiting import wait_until


@pytest.fixture(params=["http", "sockets"])
def settings(request: pytest.FixtureRequest, scene: Scene) -> dict[str, str]:
    """The bots' settings for this way to Slack."""
    scene.sandbox.socket_mode.enabled = request.param == "sockets"
    return OVER_SOCKETS if request.param == "sockets" else {}


async def wait_connected(scene: Scene, settings: dict[str, str]) -> None:
    count = 2 if settings else 0
    await wait_until("its sockets are open", lambda: len(sockets(scene)) == count)


@pytest.mark.parametrize("point", ["bot.before_commit", "bot.after_commit", "bot.after_ack"])
async def test_a_bot_killed_during_a_click_loses_nothing_that_it_acknowledged(
    scene: Scene, settings: dict[str, str], point: str
) -> None:
    """Faults B1 to B3: given a bot that is killed before it stores a click (B1), after that (B2), or
    after the ack (B3); then only B3's person sees success; when another bot runs and she presses again, her
    decision counts, once."""
    bot = await scene.bot_process(f"{point}=kill", **settings)
    await wait_connected(scene, settings)
    gate = await scene.gate()
    waiting = scene.ask(gate, email("c1"), email("c2"))
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)

    first = await scene.alice.press(card, "approve", 1)
    assert await bot.wait_end() == -9
    assert first["ok"] == (point == "bot.after_ack")
    stored = await gate.reviews.load(review_of(card))
    assert (stored.review.actions[0].decision is None) == (point == "bot.before_commit")

    await wait_connected(scene, {})
    async with freeze_cards(scene.actor):
        await scene.bot(**settings)
        await wait_connected(scene, settings)
        assert (await scene.alice.press(card, "approve", 1))["ok"]
    card = await scene.card("approved by U0ALICE")
    await scene.bob.press(card, "approve", 1)
    outcome = await waiting
    assert [call.id for call in outcome.execute] == ["c1", "c2"]
    assert [_name(outcome, id) for id in ("c1", "c2")] == ["Alice Ng", "Bob Reyes"]
    assert len(await scene.cards()) == 1


@pytest.mark.parametrize("point", ["bot.before_commit", "bot.after_commit"])
async def test_a_bot_killed_during_a_submission(
    scene: Scene, settings: dict[str, str], point: str
) -> None:
    """Faults B1 and B2: given a modal whose submission kills the bot; then the person sees a failure and
    keeps her input; when she sends it again, then it counts once."""
    bot = await scene.bot_process(f"{point}=kill", **settings)
    await wait_connected(scene, settings)
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    await scene.wait_noted(gate, card)
    await scene.alice.press(card, "edit")
    failed = await scene.alice.submit(copies=4)
    assert "trouble" in failed["error"]
    assert await bot.wait_end() == -9

    await wait_connected(scene, {})
    await scene.bot(**settings)
    await wait_connected(scene, settings)
    again = await scene.alice.submit(copies=4)

    assert again["ok"]
    assert (await waiting).execute[0].args["copies"] == 4
    told_of_the_first = "Your first attempt was stored" in await scene.alice.modal()
    assert told_of_the_first is (point == "bot.after_commit")


def _name(outcome: Outcome, id: str) -> str | None:
    decision = outcome.decision(id)
    return decision.by.name if decision and decision.by else None
