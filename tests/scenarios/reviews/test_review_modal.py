"""The Review modal: more actions than one message can hold, decided one by one."""

from __future__ import annotations

import json
from typing import Any

from hitl_core import ToolCall
from slack_sandbox.workspace.view_validation import validate_view
from tests.support.bots import CANARY, Scene
from tests.support.slack import Message, buttons, review_of, text_of
from tests.support.slack_limits import assert_view

Json = dict[str, Any]

COUNT = 40
RULE: Json = {"allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"]}


def policy(rule: Json) -> str:
    return json.dumps({"default": "review", "interrupt_on": {"step": rule}})


async def forty(scene: Scene, rule: Json | None = None, times: int = 9) -> tuple[Any, Message]:
    """An agent that waits for forty decisions, and its card."""
    await scene.bot()
    gate = await scene.gate(policy(rule or RULE))
    calls = [
        ToolCall(f"c{n}", "step", {"n": n, "what": (f"{CANARY} number {n} " * times).strip()})
        for n in range(1, COUNT + 1)
    ]
    waiting = scene.ask(gate, *calls)
    card = await scene.card("Review")
    await scene.wait_noted(gate, card)
    return waiting, card


async def open_modal(scene: Scene) -> Json:
    view = await scene.actor.view(scene.alice.id)
    assert view is not None
    keys = ("type", "title", "submit", "close", "blocks", "callback_id", "private_metadata")
    sent = {key: view[key] for key in keys if view[key] is not None}
    validate_view(sent)
    assert_view(sent)
    return view


def where(view: Json) -> str:
    return str(view["blocks"][0]["elements"][0]["text"])


async def test_forty_calls_are_decided_one_by_one(scene: Scene) -> None:
    """Given forty calls on one card, when Alice opens Review and presses Approve forty times, then each time
    the next one is shown, and the agent gets all of them."""
    waiting, card = await forty(scene)
    assert buttons(card, "approve") == []
    await scene.alice.press(card, "review")
    for n in range(1, COUNT + 1):
        view = await open_modal(scene)
        assert where(view).startswith(f"{n} of {COUNT}"), where(view)
        assert f"{COUNT + 1 - n} of {COUNT} still wait" in where(view)
        assert f"number {n} " in text_of({"blocks": view["blocks"], "text": ""})
        assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    assert "All decided" in where(await open_modal(scene))
    assert len((await waiting).execute) == COUNT


async def test_a_form_that_is_opened_after_reading_has_room_for_a_notice(scene: Scene) -> None:
    """Given the Review modal, when Alice reads all of a long action there, edits it, and asks for the file;
    then she is told that it is there, and after she has sent the form the next action is shown. Slack shows
    at most three modals, so the notice did not open."""
    rule = {**RULE, "must_read": True, "args_schema": {"properties": {"n": {"type": "integer"}}}}
    _, card = await forty(scene, rule, times=2_500)
    who = scene.alice.id
    await scene.alice.press(card, "review")
    await scene.actor.click_view(who, "see")
    while "see_page:next" in str(await open_modal(scene)):
        await scene.actor.click_view(who, "see_page:next")
    await scene.actor.click_view(who, "edit")
    await scene.actor.click_view(who, "file")
    assert "The file is below the card" in await scene.alice.modal()
    await scene.actor.close(who)
    assert (await scene.alice.submit(n=100))["ok"]
    assert where(await open_modal(scene)).startswith("2 of")


async def test_each_way_to_decide_works_inside_it(scene: Scene) -> None:
    """Given the Review modal, when Alice edits, rejects, answers, skips and reads, then each opens on top,
    comes back, and the next action is shown below."""
    waiting, card = await forty(scene)
    await scene.alice.press(card, "review")

    await scene.actor.click_view(scene.alice.id, "edit")
    assert (await scene.alice.submit(n=100))["ok"]
    assert where(await open_modal(scene)).startswith("2 of")

    await scene.actor.click_view(scene.alice.id, "reject")
    assert (await scene.alice.submit(message="Not this one"))["ok"]
    assert where(await open_modal(scene)).startswith("3 of")

    await scene.actor.click_view(scene.alice.id, "more", option="Answer instead of running it")
    assert (await scene.alice.submit(message="Did it by hand"))["ok"]
    assert where(await open_modal(scene)).startswith("4 of")

    await scene.actor.click_view(scene.alice.id, "more", option="Skip it")
    assert where(await open_modal(scene)).startswith("5 of")

    await scene.actor.click_view(scene.alice.id, "review_page:next")
    await scene.actor.click_view(scene.alice.id, "review_page:back")
    assert where(await open_modal(scene)).startswith("5 of")

    await scene.actor.click_view(scene.alice.id, "review_page:back")
    decided = await open_modal(scene)
    assert "skipped" in text_of({"blocks": decided["blocks"], "text": ""})
    assert "approve" not in json.dumps([b for b in decided["blocks"] if b["type"] == "actions"])
    assert not waiting.done()


async def test_the_next_call_is_one_that_the_person_may_decide(scene: Scene) -> None:
    """Given forty calls of which each second one is Bob's; when Alice approves hers, then the next of hers
    is shown: she saw Bob's, and was refused."""
    await scene.bot()
    users = {"step": scene.alice.id, "move": scene.bob.id}
    rules = {tool: {**RULE, "reviewers": {"users": [user]}} for tool, user in users.items()}
    gate = await scene.gate(json.dumps({"default": "review", "interrupt_on": rules}))
    calls = [
        ToolCall(f"c{n}", ("step", "move")[n % 2], {"what": f"{CANARY} number {n} " * 9})
        for n in range(COUNT)
    ]
    scene.ask(gate, *calls)
    card = await scene.card("Review")
    await scene.wait_noted(gate, card)
    await scene.alice.press(card, "review")
    for n in (1, 3, 5):
        assert where(await open_modal(scene)).startswith(f"{n} of {COUNT}")
        assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    assert where(await open_modal(scene)).startswith(f"7 of {COUNT}")


async def test_promise_2_what_another_person_decided_is_told_on_top(scene: Scene) -> None:
    """Given two people in the Review modal, when both decide the same call, then the second one is told by
    whom it was, and the modal stays."""
    _, card = await forty(scene)
    await scene.alice.press(card, "review")
    await scene.bob.press(card, "review")
    await scene.actor.click_view(scene.bob.id, "approve")
    await scene.actor.click_view(scene.alice.id, "approve")
    assert "“Bob Reyes” (U0BOB) already approved step" in await scene.alice.modal()
    await scene.actor.close(scene.alice.id)
    assert where(await open_modal(scene)).startswith("1 of")


async def test_a_refusal_that_can_not_be_shown_on_top_is_no_success(scene: Scene) -> None:
    """Given a call that Bob decided, and a Slack that opens no modal; when Alice presses in hers, then she
    sees a failure and no success; when Slack works again, then she reads why."""
    _, card = await forty(scene)
    await scene.alice.press(card, "review")
    await scene.bob.press(card, "review")
    await scene.actor.click_view(scene.bob.id, "approve")
    await scene.actor.inject_fault("http_500", method="views.push")
    assert not (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]

    await scene.actor.inject_fault("ok")
    assert (await scene.actor.click_view(scene.alice.id, "approve"))["ok"]
    assert "already approved step" in await scene.alice.modal()


async def test_promise_7_who_may_not_decide_does_not_open_it(scene: Scene) -> None:
    """Given somebody who is no member, when they press Review, then they are shown nothing."""
    _, card = await forty(scene)
    [(block_id, button)] = buttons(card, "review")
    await scene.actor.click(
        scene.carl.id,
        card["channel"],
        card["ts"],
        "review",
        block_id=block_id,
        value=button["value"],
    )
    assert "Only members" in await scene.carl.last_notice()
    assert await scene.actor.view(scene.carl.id) is None


async def test_a_reviewer_who_is_named_opens_it(scene: Scene) -> None:
    """Given a rule that names Bob, then he opens Review, and Alice, who only sees the card, does not."""
    rule = {**RULE, "reviewers": {"users": ["U0BOB"]}}
    _, card = await forty(scene, rule)
    await scene.bob.press(card, "review")
    assert "1 of 40" in await scene.bob.modal()
    await scene.alice.press(card, "review")
    assert "Only “Bob Reyes” (U0BOB) may decide" in await scene.alice.last_notice()
    assert await scene.actor.view(scene.alice.id) is None


async def test_what_it_shows_whole_was_read(scene: Scene) -> None:
    """Given calls that must be read and are only listed on the card, when Alice sees one whole in Review,
    then her Approve there counts at once."""
    _, card = await forty(scene, {**RULE, "must_read": True})
    await scene.alice.press(card, "review")
    await scene.actor.click_view(scene.alice.id, "approve")
    assert where(await open_modal(scene)).startswith("2 of")


async def test_approve_all_of_a_list(scene: Scene) -> None:
    """Given forty calls that are whole in their rows; then all of them can be approved at once."""
    waiting, card = await forty(scene, times=1)
    [(block_id, element)] = buttons(card, "approve_all")
    confirm = True if "confirm" in element else None
    await scene.actor.click(
        scene.alice.id,
        card["channel"],
        card["ts"],
        "approve_all",
        block_id=block_id,
        confirm=confirm,
    )
    assert len((await waiting).execute) == COUNT
    assert review_of(card)
