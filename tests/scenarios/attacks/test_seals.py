"""After a data loss, a button never decides on anything other than what its card shows."""

from __future__ import annotations

import json

from hitl_core import Gate, ToolCall
from tests.support.bots import Scene
from tests.support.clicks import refusals
from tests.support.slack import Message, buttons, review_of

POLICY = """
default: review
interrupt_on:
  pay: {allowed_decisions: [approve, edit, reject, respond, ignore]}
  ask:
    allowed_decisions: [respond]
    answer_schema: {enum: [Pay it, "Cancel"]}
"""
OTHER = POLICY.replace('[Pay it, "Cancel"]', '["Cancel", Pay it]')
SMALL = [ToolCall(f"c{n}", "pay", {"eur": 5, "to": "jo"}) for n in (1, 2)]
LARGE = [SMALL[0], ToolCall("c2", "pay", {"eur": 5000, "to": "mallory"})]
LAST = "What you saw is not what would run now"


async def submit(gate: Gate, *calls: ToolCall) -> str:
    return await gate.submit(calls, thread_id="t", turn="m1")


async def lost(scene: Scene, gate: Gate, card: Message, *calls: ToolCall) -> str:
    """The store forgets the review of this card, and its agent submits the same turn with other calls. The
    old message stays until the end of the test: no bot knows of it any more.
    """
    old = scene.sandbox.workspace.channels[card["channel"]].messages[card["ts"]]
    scene.stack.callback(setattr, old, "deleted", True)
    await scene.wait_noted(gate, card)
    await scene.all_shown()
    redis = await scene.redis()
    review_id = review_of(card)
    assert await redis.delete(f"hitl:{{0}}:review:{review_id}") == 1
    assert await submit(gate, *calls) == review_id
    return review_id


async def check_undecided(gate: Gate, review_id: str) -> None:
    review = (await gate.reviews.load(review_id)).review
    assert all(action.is_pending and not action.votes for action in review.actions)


async def test_no_button_of_a_lost_review_decides_on_its_heir(scene: Scene) -> None:
    """Given a card of two payments of 5 EUR, and that the store lost it and holds 5,000
    EUR under the same id, call and revision; then each button of the old card is stale, and Approve all with
    it."""
    await scene.bot()
    gate = await scene.gate(POLICY)
    await submit(gate, *SMALL)
    card = await scene.card("jo")
    review_id = await lost(scene, gate, card, *LARGE)

    # The first stale press has the old card deleted, as a second one; here it stays for the others.
    await scene.actor.inject_fault("http_500", method="chat.delete")
    for action in ("approve", "reject", "edit"):
        await scene.alice.press(card, action, 2)
    for option in ("Answer instead of running it", "Skip it"):
        await scene.alice.press(card, "more", 2, option=option)
    await scene.alice.press(card, "approve_all")

    await scene.actor.inject_fault("ok")
    text = await scene.alice.notices()
    assert len(text) == 6
    assert all(LAST in one for one in text), text
    await check_undecided(gate, review_id)
    assert [why for _, why in await refusals(scene)].count("stale") >= 3


async def test_what_is_the_same_after_a_loss_is_still_good(scene: Scene) -> None:
    """Given the same loss, then the button of the call whose arguments did not change
    decides it."""
    await scene.bot()
    gate = await scene.gate(POLICY)
    await submit(gate, *SMALL)
    card = await scene.card("jo")
    review_id = await lost(scene, gate, card, *LARGE)
    await scene.alice.press(card, "approve", 1)
    first, second = (await gate.reviews.load(review_id)).review.actions
    assert (first.is_pending, second.is_pending) == (False, True)


async def test_no_open_form_decides_on_another_call(scene: Scene) -> None:
    """Given forms that were opened before the loss, to edit and to reject; then sending
    them changes nothing and says why."""
    await scene.bot()
    gate = await scene.gate(POLICY)
    await submit(gate, *SMALL)
    card = await scene.card("jo")
    for action in ("edit", "reject"):
        await (scene.bob if action == "edit" else scene.alice).press(card, action, 2)
    review_id = await lost(scene, gate, card, *LARGE)
    await scene.bob.submit(eur="7")
    await scene.alice.submit(message="no")
    for person in (scene.alice, scene.bob):
        assert LAST in await person.modal()
    await check_undecided(gate, review_id)


async def test_an_answer_is_the_one_that_its_button_says(scene: Scene) -> None:
    """Given a question whose answers are in another order after the loss; then "Pay it"
    answers nothing."""
    await scene.bot()
    gate, heir = await scene.gate(POLICY), await scene.gate(OTHER)
    question = ToolCall("c1", "ask", {"about": "order 7"})
    await submit(gate, question)
    card = await scene.card("order 7")
    review_id = await lost(scene, heir, card, question)
    await scene.alice.press(card, "answer:0")
    assert LAST in await scene.alice.last_notice()
    await check_undecided(gate, review_id)


async def test_a_button_without_a_seal_decides_nothing(scene: Scene) -> None:
    """Given values that nothing of ours would send: without the seal, or with half of
    it."""
    await scene.bot()
    gate = await scene.gate(POLICY)
    await submit(gate, *SMALL)
    card = await scene.card("jo")
    await scene.wait_noted(gate, card)

    for action in ("approve", "approve_all"):
        block_id, button = buttons(card, action)[0]
        value = str(button["value"])
        for forged in (value.rpartition(".")[0], value[:-8]):
            await scene.actor.click(
                scene.alice.id,
                card["channel"],
                card["ts"],
                action,
                value=forged,
                block_id=block_id,
                confirm=True if "confirm" in button else None,
            )
    assert [LAST in one for one in await scene.alice.notices()] == [True] * 4
    await check_undecided(gate, review_of(card))
    assert "5000" not in json.dumps(card)
