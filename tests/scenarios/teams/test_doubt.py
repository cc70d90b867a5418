"""A call in doubt that is answered in Teams, because the bot's default place is there."""

from __future__ import annotations

import pytest

from hitl_core.review import claims
from teams_sandbox.workspace.acme import ALICE, APPROVALS, BOB, CARL
from tests.scenarios.agents.test_doubt import ANSWERS, FREE, agent, effects, outcome_of
from tests.support.bots import Scene, email
from tests.support.clicks import refusals
from tests.support.teams.scene import card
from tests.support.teams.users import TeamsUsers, actions

VERBS = {"doubt_ran": "ran", "doubt_rerun": "rerun", "doubt_skip": "skip"}


@pytest.fixture
def bot_settings() -> dict[str, str]:
    return {"HITL_CHANNEL": f"teams:{APPROVALS}"}


@pytest.mark.parametrize(("button", "ran", "text"), ANSWERS, ids=[a[0] for a in ANSWERS])
async def test_promise_5_a_doubt_is_answered_in_teams(
    scene: Scene, users: TeamsUsers, button: str, ran: list[str], text: str
) -> None:
    """Given an agent killed right after `once`; then Teams' card asks whether the call ran; Carl, who may not
    decide, is told; when Alice answers, then a second agent finishes accordingly, and Bob, who answers as
    well, is told that she did."""
    first = await agent(scene, email(), failpoints="gate.after_once=kill")
    await users.press(ALICE, "Approve", await card(users, "send_email"))
    assert await first.wait_end() == -9
    message = await card(users, "it may or may not have run")
    second = await agent(scene, email())
    [answer] = [
        one
        for one in actions(message.card).values()
        if one["data"]["value"].startswith(f"{VERBS[button]}.")
    ]
    late = users.press_of(BOB, message, answer, {})
    refused = users.press_of(CARL, message, answer, {})
    assert users.show(CARL, message, await users.send(refused)).startswith("Only ")

    await users.send(users.press_of(ALICE, message, answer, {}))
    sentence = users.show(BOB, message, await users.send(late))

    assert "already" in sentence or ran, sentence
    assert await second.wait_end() == 0, second.output
    assert effects(scene) == ran
    outcome = outcome_of(second)
    assert outcome["executed"] == ran
    assert all(text in one["content"] for one in outcome["answers"])


@pytest.mark.parametrize("label", ["It ran", "Run again", "Go on without it"])
async def test_who_answers_about_a_call_that_needed_nobody_sees_its_card(
    scene: Scene, users: TeamsUsers, label: str
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
    message = await card(users, "it may or may not have run")
    press = users.press_of(ALICE, message, actions(message.card)[label], {})
    shown = users.show(ALICE, message, await users.send(press))
    assert "says “Alice Ng”" in shown
    assert await refusals(scene) == []
