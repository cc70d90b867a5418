"""What people see on the card when the agent's user writes a new message during their review."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from hitl_core.integrations.langgraph import Run
from tests.integrations.agents import Lab, answers, call, go
from tests.scenarios.conftest import scene
from tests.support.bots import CANARY, Scene
from tests.support.slack import buttons, review_of

__all__ = ["scene"]  # a fixture


@pytest.fixture
async def lab(scene: Scene, saver: AsyncSqliteSaver, tmp_path: Path) -> Lab:
    """An agent whose reviews are shown in Slack."""
    gate = await scene.gate("default: allow")
    return Lab(gate, saver, tmp_path)


async def test_a_new_message_takes_the_card_back(scene: Scene, lab: Lab) -> None:
    """Given a card that still shows its buttons; when the user writes something new, then a person who
    presses is told so, the card says that it was cancelled and why, and the agent has gone on."""
    await scene.bot()
    driver = lab.driver([call("c1", "send_email", to=f"{CANARY}@example.com")], "Fine.")
    await driver.run(go(), thread_id="t-1")
    before = await scene.card("send_email")
    await scene.actor.inject_fault("http_500", method="chat.update")

    run = await driver.run(go("Never mind."), thread_id="t-1")

    assert run.finished
    assert "was cancelled" in answers(run)["c1"][1]
    await scene.alice.press(before, "approve")
    assert await scene.alice.notices() == [
        "The agent cancelled this: nobody needs to decide any more."
    ]
    await scene.actor.inject_fault("ok", method="chat.update")
    after = await scene.card("cancelled by the agent", "The user wrote something new.")
    assert review_of(after) == review_of(before)
    assert not buttons(after, "approve")
    assert lab.effects == []


async def test_a_stop_that_was_told_is_done_though_serving_ends(
    lab: Lab,
) -> None:
    """Given a program that ends `serve` as soon as it hears of the stop, then its review is done."""
    driver = lab.driver([call("c1", "send_email", to="a")])
    run = await driver.run(go(), thread_id="t-1")
    await lab.decide(run.review_id, "approve")
    ended = asyncio.Event()

    async def on_stop(run: Run) -> None:
        serving.cancel()
        ended.set()

    serving = asyncio.create_task(driver.serve(on_stop))
    await ended.wait()
    await asyncio.wait([serving])
    assert (await lab.review(run.review_id)).status == "done"
