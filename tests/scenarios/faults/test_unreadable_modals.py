"""Modals that the bot can't read: another version of the bot opened them, or their metadata was changed."""

from __future__ import annotations

import json

import pytest

from bot.refusals import UNREADABLE_MODAL
from tests.scenarios.reviews.test_review_modal import forty
from tests.support.bots import Scene
from tests.support.slack import review_of

#: What earlier versions, other versions and accidents leave in `private_metadata`.
UNREADABLE = [
    "",
    "{}",
    "garbage",
    "[]",
    '{"review": "REVIEW", "action": "1", "revision": 1, "kept": true, "under": "default"}',
    '{"review": "REVIEW", "action": "1", "revision": "1"}',
    '{"review": "REVIEW", "action": "1", "revision": -1}',
    '{"review": "REVIEW", "action": "1", "revision": 1, "at": ["no place", 0]}',
    '{"review": "REVIEW", "action": "1", "revision": 1, "card": ["C 0", "x"]}',
]


def change_modal(scene: Scene, **changes: str) -> None:
    """Changes what Slack keeps of Alice's modal."""
    scene.sandbox.modals.stack(scene.alice.id)[-1].update(changes)


@pytest.mark.parametrize("metadata", UNREADABLE)
async def test_a_form_that_cant_be_read_says_what_to_do(scene: Scene, metadata: str) -> None:
    """Given an open form whose metadata has another shape; when Alice sends it, then the sentence is beside
    the first field, her text stays, and the review waits; the card's button opens a good one."""
    await scene.bot()
    waiting = scene.ask(await scene.gate())
    card = await scene.card("send_email")
    await scene.alice.press(card, "edit")
    change_modal(scene, private_metadata=metadata)

    sent = await scene.alice.submit(to="new@example.com")

    assert list(sent["errors"].values()) == [UNREADABLE_MODAL]
    assert not waiting.done()
    await scene.alice.press(card, "edit")
    assert (await scene.alice.submit(to="new@example.com"))["ok"]
    [ran] = (await waiting).execute
    assert ran.args["to"] == "new@example.com"


async def test_an_escalation_without_its_card_says_what_to_do(scene: Scene) -> None:
    """Given an open form with the id of another one, or of none, and without its card; when it is sent, then
    the same."""
    await scene.bot()
    waiting = scene.ask(await scene.gate())
    card = await scene.card("send_email")
    metadata = json.dumps({"review": review_of(card), "action": "1", "revision": 1})
    for callback_id in ("escalate", "an_old_form", "see", ""):
        await scene.alice.press(card, "reject")
        change_modal(scene, callback_id=callback_id, private_metadata=metadata)

        sent = await scene.alice.submit()

        assert list(sent["errors"].values()) == [UNREADABLE_MODAL], callback_id
    assert not waiting.done()


@pytest.mark.parametrize("metadata", ["", "garbage", UNREADABLE[4], UNREADABLE[7]])
@pytest.mark.parametrize("action_id", ["approve", "edit", "review_page:next"])
async def test_a_button_in_a_modal_that_cant_be_read_says_what_to_do(
    scene: Scene, metadata: str, action_id: str
) -> None:
    """Given the Review modal with metadata of another shape; when a button in it is pressed, then the
    sentence is shown on top of it, and nothing is decided."""
    waiting, card = await forty(scene)
    await scene.alice.press(card, "review")
    change_modal(scene, private_metadata=metadata)

    await scene.actor.click_view(scene.alice.id, action_id)

    assert UNREADABLE_MODAL in await scene.alice.modal()
    assert not waiting.done()
