"""A call in doubt that is answered in Teams, because the bot's default place is there."""

from __future__ import annotations

import pytest

from hitl_core.review import claims
from teams_sandbox.workspace.acme import ALICE, APPROVALS, BOB, CARL
from tests.scenarios.agents.test_doubt import ANSWERS, FREE, agent, effects, outcome_of
from tests.support.bots import Scene, email
from tests.support.clicks import refusals
from tests.support.teams.hands import TeamsHands, actions
from tests.support.teams.scene import card

VERBS = {"doubt_ran": "ran", "doubt_rerun": "rerun", "doubt_skip": "skip"}


@pytest.fixture
def bot_settings() -> dict[str, str]:
    return {"HITL_CHANNEL": f"teams:{APPROVALS}"}


@pytest.mark.parametrize(("button", "ran", "text"), ANSWERS, ids=[a[0] for a in ANSWERS])
async def test_promise_5_a_doubt_is_answered_in_teams(
    scene: Scene, hands: TeamsHands, button: str, ran: list[str], text: str
) -> None:
    """Given an agent killed right after `once`; then Teams' card asks whether the call ran; Carl, who may not
    decide, is told; when Alice answers, then a second agent finishes accordingly, and Bob, who answers as
    well, is told that she did."""
    first = await agent(scene, email(), failpoints="gate.after_once=kill")
    await hands.press(ALICE, "Approve", await card(hands, "send_email"))
    assert await first.wait_end() == -9
    message = await card(hands, "it may or may not have run")
    second = await agent(scene, email())
    [answer] = [
        one
        for one in actions(message.card).values()
        if one["data"]["value"].startswith(f"{VERBS[button]}.")
    ]
    late = hands.press_of(BOB, message, answer, {})
    refused = hands.press_of(CARL, message, answer, {})
    assert hands.show(CARL, message, await hands.send(refused)).startswith("Only ")

    await hands.send(hands.press_of(ALICE, message, answer, {}))
    sentence = hands.show(BOB, message, await hands.send(late))

    assert "already" in sentence or ran, sentence
    assert await second.wait_end() == 0, second.output
    assert effects(scene) == ran
    outcome = outcome_of(second)
    assert outcome["executed"] == ran
    assert all(text in one["content"] for one in outcome["answers"])


@pytest.mark.parametrize("label", ["It ran", "Run again", "Go on without it"])
async def test_a13_v3_who_answers_about_a_call_that_needed_nobody_sees_its_card(
    scene: Scene, hands: TeamsHands, label: str
) -> None:
    """Given a call that the policy allows, in doubt; when Alice answers, then she sees the card with her
    answer, and the audit has no refusal: she read only that it was stored, and the audit said that she may
    not see it."""
    gate = await scene.gate()
    outcome = await gate.wait(await gate.submit([FREE], thread_id="t-1"))
    assert await outcome.once(FREE)
    outcome.release()
    await gate.reviews.change(
        outcome.review_id, "die", lambda r, now: claims.expire_lease(r, now + 100)
    )
    message = await card(hands, "it may or may not have run")
    press = hands.press_of(ALICE, message, actions(message.card)[label], {})
    shown = hands.show(ALICE, message, await hands.send(press))
    assert "says “Alice Ng”" in shown
    assert await refusals(scene) == []
