"""Questions to a person, arguments that must be read first, and buttons that ask for a confirmation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl_core import ToolCall
from tests.support.bots import CANARY, Scene
from tests.support.clicks import freeze_cards
from tests.support.slack import APPROVALS, buttons, text_of

Json = dict[str, Any]


def policy(rule: Json, **others: Json) -> str:
    return json.dumps({"default": "review", "interrupt_on": {"ask": rule, **others}})


async def ask_question(scene: Scene, rule: Json, args: Json | None = None, **others: Json) -> Any:
    await scene.bot()
    gate = await scene.gate(policy(rule, **others))
    return scene.ask(gate, ToolCall("c1", "ask", args or {"q": "Ship it?"}))


async def click_confirmed(scene: Scene, card: Json, action_id: str, yes: bool) -> Json:
    [(block_id, _)] = buttons(card, action_id)
    return await scene.actor.click(
        scene.alice.id, APPROVALS, card["ts"], action_id, block_id=block_id, confirm=yes
    )


async def test_a_question_with_a_few_answers_has_a_button_for_each(scene: Scene) -> None:
    """Given a question with three answers, when Alice presses one, then the agent gets its value."""
    schema = {"enum": ["now", "later", 3]}
    waiting = await ask_question(scene, {"allowed_decisions": ["respond"], "answer_schema": schema})
    await scene.alice.press(await scene.card("ask"), "answer:2")
    outcome = await waiting
    assert [answer.content for answer in outcome.answers] == ["3"]
    assert outcome.execute == ()


async def test_a_question_with_a_schema_opens_its_form(scene: Scene) -> None:
    """Given a question whose answer is an object, when Alice answers, then it is a form, a wrong value is
    said beside its field, and the agent gets the object."""
    share = {"type": "integer", "maximum": 100}
    schema = {
        "type": "object",
        "properties": {"who": {"type": "string"}, "share": share},
        "required": ["who", "share"],
    }
    waiting = await ask_question(scene, {"allowed_decisions": ["respond"], "answer_schema": schema})
    await scene.alice.press(await scene.card("ask"), "respond")
    view = await scene.actor.view(scene.alice.id)
    assert view is not None
    who, share = [b["label"]["text"] for b in view["blocks"] if b["type"] == "input"]
    wrong = await scene.alice.submit(**{who: "Jo", share: 101})
    assert "100" in str(wrong.get("errors") or wrong.get("error")), wrong
    assert (await scene.alice.submit(**{who: "Jo", share: 50}))["ok"]
    [answer] = (await waiting).answers
    assert json.loads(str(answer.content)) == {"who": "Jo", "share": 50}


async def test_a_plain_question_is_answered_in_words(scene: Scene) -> None:
    waiting = await ask_question(scene, {"allowed_decisions": ["respond"]})
    await scene.alice.press(await scene.card("ask"), "respond")
    assert (await scene.alice.submit(message="As you like"))["ok"]
    assert [answer.content for answer in (await waiting).answers] == ["As you like"]


async def test_approve_that_needs_an_answer_asks_for_it(scene: Scene) -> None:
    """Given a call that runs with a person's number in its arguments, when Alice approves, then she is asked
    for it, and it runs with it; sent twice, it is said to be stored already."""
    rule = {
        "allowed_decisions": ["approve", "reject"],
        "answer_schema": {"type": "integer", "maximum": 9},
        "output": {"key": "copies", "into": "input"},
    }
    waiting = await ask_question(scene, rule)
    await scene.alice.press(await scene.card("ask"), "approve")
    assert "runs with your answer" in await scene.alice.modal()
    assert "9" in str(await scene.alice.submit(**{"Your answer": 12}))
    assert (await scene.alice.submit(**{"Your answer": 4}))["ok"]
    sent = (await scene.actor.deliveries())[-1]
    again = await scene.actor.send_raw(str(scene.sandbox.bot_url), sent["body"], sent["headers"])
    assert again[0] == 200
    assert "Your first attempt was stored" in again[1]
    assert (await waiting).execute[0].args == {"q": "Ship it?", "copies": 4}


async def test_confirm_asks_once_more(scene: Scene) -> None:
    """Given a rule that wants it confirmed, then only a second yes approves."""
    rule = {"allowed_decisions": ["approve", "reject"], "confirm": True}
    waiting = await ask_question(scene, rule)
    card = await scene.card("ask")
    assert (await click_confirmed(scene, card, "approve", False))["cancelled"]
    assert not waiting.done()
    await click_confirmed(scene, card, "approve", True)
    assert len((await waiting).execute) == 1


LONG = {"script": "".join(f"echo {n} {CANARY}\n" for n in range(300)), "last": "rm -rf /"}


async def test_promise_8_what_must_be_read_opens_before_it_is_approved(scene: Scene) -> None:
    """Given a long call that must be read; then no button of its card approves it, and its edit opens it too.
    After Alice has seen the last page, its Approve counts. What Bob has not read still opens for him."""
    rule = {"allowed_decisions": ["approve", "edit", "reject"], "must_read": True}
    waiting = await ask_question(scene, rule, {**LONG, "more": "y" * 90_000})
    card = await scene.card("ask")
    assert buttons(card, "approve") == []
    await scene.alice.press(card, "edit")  # an edit approves as well
    assert "Page 1 of" in await scene.alice.modal()
    await scene.actor.close(scene.alice.id)
    await scene.alice.press(card, "see")
    assert "'approve'" not in str(await scene.actor.view(scene.alice.id))
    while "see_page:next" in str(await scene.actor.view(scene.alice.id)):
        await scene.actor.click_view(scene.alice.id, "see_page:next")
    await scene.bob.press(card, "see")
    assert "Page 1 of" in await scene.bob.modal()
    assert not waiting.done()

    await scene.actor.click_view(scene.alice.id, "approve")
    assert len((await waiting).execute) == 1


async def test_what_the_card_shows_whole_needs_no_reading(scene: Scene) -> None:
    waiting = await ask_question(scene, {"allowed_decisions": ["approve"], "must_read": True})
    await scene.alice.press(await scene.card("ask"), "approve")
    assert len((await waiting).execute) == 1


async def test_approve_all_is_not_offered_where_one_must_be_read(scene: Scene) -> None:
    """Given two calls of which one is long and must be read; then each is approved by itself, and the long
    one where all of it was shown."""
    rule = {"allowed_decisions": ["approve", "reject"], "must_read": True}
    await scene.bot()
    gate = await scene.gate(policy(rule))
    waiting = scene.ask(
        gate, ToolCall("c1", "tidy", {"room": "attic"}), ToolCall("c2", "ask", LONG)
    )
    card = await scene.card("tidy")
    assert buttons(card, "approve_all") == []
    await scene.alice.press(card, "approve")
    await scene.alice.press(card, "see")
    assert "ask" in await scene.alice.modal()
    assert not waiting.done()
    await scene.actor.click_view(scene.alice.id, "approve")
    assert [call.id for call in (await waiting).execute] == ["c1", "c2"]


async def test_approve_all_with_one_that_is_stale_approves_nothing(scene: Scene) -> None:
    """Given a card of two calls, when Bob edits one under Alice's eyes, then her Approve all changes nothing,
    and she is told which."""
    rule = {
        "allowed_decisions": ["approve", "edit"],
        "reviewers": {"channel_members": True, "quorum": 2},
    }
    await scene.bot()
    gate = await scene.gate(policy(rule))
    waiting = scene.ask(
        gate, ToolCall("c1", "tidy", {"room": "attic"}), ToolCall("c2", "ask", {"q": "a"})
    )
    card = await scene.card("tidy")
    async with freeze_cards(scene.actor):
        await scene.bob.press(card, "edit", 2)
        assert (await scene.bob.submit(q="b"))["ok"]
        await scene.alice.press(card, "approve_all")
    assert "ask was edited by “Bob" in await scene.alice.last_notice()
    review = await gate.reviews.load(card["metadata"]["event_payload"]["review_id"])
    assert review.review.actions[0].is_pending
    assert not waiting.done()


@pytest.mark.parametrize("quorum", [1, 2])
async def test_a_rejection_says_what_it_does(scene: Scene, quorum: int) -> None:
    reviewers = {"channel_members": True, "reject_quorum": quorum}
    await ask_question(scene, {"allowed_decisions": ["approve", "reject"], "reviewers": reviewers})
    await scene.alice.press(await scene.card("ask"), "reject")
    text = "The tool does not run." if quorum == 1 else "if one other person rejects it as well"
    assert text in await scene.alice.modal()


@pytest.mark.every_reply
async def test_approving_in_app_home(scene: Scene) -> None:
    """Given Alice's Home with what waits for her, when she approves there, then it counts, and is gone."""
    waiting = await ask_question(scene, {"allowed_decisions": ["approve", "edit", "reject"]})
    await scene.card("ask")
    await scene.actor.open_home(scene.alice.id)
    await scene.actor.wait_for(
        lambda state: state["home"] and "Ship it?" in json.dumps(state["home"])
    )
    await scene.actor.click_view(scene.alice.id, "edit", home=True)
    assert "approves what you send: the tool runs with it" in await scene.alice.modal()
    await scene.actor.close(scene.alice.id)
    await scene.actor.click_view(scene.alice.id, "approve", home=True)
    assert len((await waiting).execute) == 1
    home = await scene.actor.home(scene.alice.id)
    assert home is not None
    assert not [b for b in home["blocks"] if b["type"] == "actions"]
    assert "approved" in text_of({"blocks": home["blocks"], "text": ""})
