"""Reviews in Teams: agent → Redis → bot → a press in Teams → the agent continues."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl_core import ToolCall
from hitl_core.model import Place
from teams_sandbox.workspace.acme import (
    ALICE,
    APPROVALS,
    BOB,
    CARL,
    DANA,
    GUEST,
    MARIA,
    OPS,
    OPS_GROUP,
    SAM,
)
from tests.support.bots import CANARY, Scene, email, sql
from tests.support.teams.scene import POLICY, ask, card, outcome
from tests.support.teams.users import TeamsUsers, actions, text_of
from tests.support.waiting import wait_until


async def test_approve(scene: Scene, users: TeamsUsers) -> None:
    """Given a card in a channel; when Alice approves, then she sees it at once, everybody a little later, and
    the agent goes on."""
    waiting = await ask(scene)
    message = await card(users, "send_email", CANARY)
    seen = await users.press(ALICE, "Approve", message)
    assert "approved by “Alice Ng”" in seen
    assert (await outcome(waiting)).execute[0].args["copies"] == 1
    assert (await card(users, "approved by “Alice Ng”")).id == message.id
    assert "Approve" not in actions(message.card)


async def test_approve_all(scene: Scene, users: TeamsUsers) -> None:
    """Given two actions; when Alice approves all, then both run."""
    waiting = await ask(scene, email("c1"), email("c2"))
    message = await card(users, "send_email")
    label = next(one for one in actions(message.card) if one.startswith("Approve all"))
    await users.press(ALICE, label, message)
    assert len((await outcome(waiting)).execute) == 2


async def test_cancel_brings_the_card_back(scene: Scene, users: TeamsUsers) -> None:
    """Given an open form; when Alice cancels it, then she has the card with its buttons again."""
    await ask(scene)
    message = await card(users, "send_email")
    await users.press(ALICE, "Reject", message)
    await users.press(ALICE, "Cancel", message)
    assert actions(message.card_for(ALICE)).keys() == actions(message.card).keys()


async def test_reject_with_a_reason(scene: Scene, users: TeamsUsers) -> None:
    """Given a reason that is required; when Bob sends none, then he is told in the form; with one, the agent
    reads it."""
    waiting = await ask(scene, sql())
    message = await card(users, "run_sql")
    await users.press(BOB, "Reject", message)
    assert "⚠" in await users.submit(BOB, message)
    assert "rejected by “Bob Reyes”" in await users.submit(BOB, message, "Not on production")
    done = await outcome(waiting)
    assert not done.execute
    assert "Not on production" in done.answers[0].content


async def test_respond(scene: Scene, users: TeamsUsers) -> None:
    """Given a review; when Alice answers in place of the tool, then the agent gets her text."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    label = next(one for one in actions(message.card) if one.startswith(("Answer", "Respond")))
    await users.press(ALICE, label, message)
    await users.submit(ALICE, message, "I called him")
    done = await outcome(waiting)
    assert not done.execute
    assert "I called him" in done.answers[0].content


async def test_escalate(scene: Scene, users: TeamsUsers) -> None:
    """Given a chain; when Alice escalates with a reason, then the next channel has the card, and Carl's
    approval there changes the first one."""
    waiting = await ask(scene, escalate=[{"after": "1h", "to": f"teams:{OPS}"}])
    message = await card(users, "send_email")
    label = next(one for one in actions(message.card) if one.startswith("Escalate"))
    await users.press(ALICE, label, message)
    await users.submit(ALICE, message, "Not my customer")
    there = await card(users, "send_email", "Not my customer", conversation=OPS)
    await users.press(CARL, "Approve", there)
    assert len((await outcome(waiting)).execute) == 1
    await card(users, "approved by “Carl Weiss”")


async def test_a_quorum_of_two(scene: Scene, users: TeamsUsers) -> None:
    """Given a quorum of two; when Alice presses twice, then she counts once and is told; Bob's is the
    second."""
    reviewers = {"channel_members": True, "quorum": 2}
    waiting = await ask(scene, reviewers=reviewers)
    message = await card(users, "send_email")
    assert "1 of 2" in await users.press(ALICE, "Approve", message)
    newer = await card(users, "1 of 2")
    assert "already" in await users.press(ALICE, "Approve", newer)
    assert not waiting.done()
    await users.press(BOB, "Approve", newer)
    assert len((await outcome(waiting)).execute) == 1


async def test_who_may_not_decide_is_told_in_private(scene: Scene, users: TeamsUsers) -> None:
    """Given people who are not in the channel, a guest in it, and a person of another tenant; when they
    press, then each gets a sentence, no message is posted, and nothing changes."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    before = len(users.conversation(APPROVALS).messages)
    for person in (CARL, GUEST, SAM):
        sentence = await users.press(person, "Approve", message)
        assert sentence.startswith("Only "), sentence
        assert message.cards.get(person) is None
    assert len(users.conversation(APPROVALS).messages) == before
    assert not waiting.done()
    await users.press(MARIA, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1


async def test_a_second_press_is_told_who_won(scene: Scene, users: TeamsUsers) -> None:
    """Given a card that Alice has approved; when Bob presses Reject on what he still sees, then he is told,
    and nothing changes."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    reject = users.press_of(BOB, message, actions(message.card)["Reject"], {})
    await users.press(ALICE, "Approve", message)
    assert "Alice Ng" in users.show(BOB, message, await users.send(reject))
    assert len((await outcome(waiting)).execute) == 1


async def test_the_same_invoke_twice_counts_once(scene: Scene, users: TeamsUsers) -> None:
    """Given an invoke that Teams repeats because it got no answer; then the second one has the same answer,
    and it is one vote."""
    waiting = await ask(scene, reviewers={"channel_members": True, "quorum": 2})
    message = await card(users, "send_email")
    approve = users.press_of(ALICE, message, actions(message.card)["Approve"], {})
    answers = [users.show(ALICE, message, await users.send(approve)) for _ in range(3)]
    assert all("1 of 2" in one for one in answers)
    assert not waiting.done()


async def test_a_button_of_an_older_revision_changes_nothing(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given an Approve that was shown before Alice's edit; when Bob presses it, then he is told to look
    again, and nothing runs."""
    waiting = await ask(scene, reviewers={"channel_members": True, "quorum": 2})
    message = await card(users, "send_email")
    approve = users.press_of(BOB, message, actions(message.card)["Approve"], {})
    await users.press(ALICE, "Edit", message)
    await users.submit(ALICE, message, copies="2")
    await card(users, "edited by “Alice Ng”")
    sentence = users.show(BOB, message, await users.send(approve))
    assert "edited" in sentence or "changed" in sentence, sentence
    assert not waiting.done()


async def test_a_tampered_button_changes_nothing(scene: Scene, users: TeamsUsers) -> None:
    """Given the data of a button with another value, kind or MAC, or without one; then each press is told,
    and nothing runs."""
    waiting = await ask(scene, email("c1"), sql("c2"))
    message = await card(users, "send_email")
    shown = [one["data"] for one in actions(message.card).values()]
    good = actions(message.card)["Reject"]["data"]
    others = [one for one in shown if one["value"] != good["value"]]
    tampered: list[Any] = [
        {},
        {**good, "mac": ""},
        {**good, "mac": good["mac"][:-1]},
        {**good, "mac": good["mac"].swapcase()},
        {**good, "mac": [good["mac"]]},
        {**good, "mac": "\ud800"},
        {**good, "hitl": "home"},
        {**good, "hitl": "form"},
        {**good, "hitl": "cancel"},
        {**good, "value": good["value"].replace("reject", "approve")},
        {**good, "value": {"value": good["value"]}},
        *({**good, "mac": one["mac"]} for one in others),
        {"hitl": good["hitl"], "value": good["value"]},
        {"f_mac": good["mac"], **{key: good[key] for key in ("hitl", "value")}},
    ]
    for data in tampered:
        press = users.press_of(ALICE, message, {"data": {}}, {})
        press["value"]["action"]["data"] = data
        assert "can't be read" in users.show(ALICE, message, await users.send(press)), data
    assert not waiting.done()
    assert message.card_for(ALICE) is message.card


@pytest.mark.parametrize("trigger", ["automatic", "at9_f6_new"])
async def test_a_refresh_by_teams_decides_nothing(
    scene: Scene, users: TeamsUsers, trigger: str
) -> None:
    """Given an invoke with the trigger `automatic`, or one that nobody documents, with the data of Approve;
    then its answer is the card, no message is updated for it, and nothing is decided."""
    waiting = await ask(scene)
    message = await card(users, "send_email")
    await scene.all_shown()
    edited = message.edited_at
    refresh = users.press_of(ALICE, message, actions(message.card)["Approve"], {})
    refresh["value"]["trigger"] = trigger
    seen = users.show(ALICE, message, await users.send(refresh))
    assert seen == text_of(message.card)
    await scene.all_shown()
    assert message.edited_at == edited
    assert not waiting.done()


async def test_unknown_activities_are_answered(scene: Scene, users: TeamsUsers) -> None:
    """Given activities that this bot does not know; then an invoke is 501, all others are 200, and a button
    that is none of ours is told so."""
    for kind in ("typing", "messageReaction", "messageUpdate", "event", "endOfConversation", "x"):
        assert await users.send(users.activity(ALICE, APPROVALS, type=kind)) == 200
    for name in ("task/submit", "task/fetch", "signin/verifyState", "x"):
        invoke = users.activity(ALICE, APPROVALS, type="invoke", name=name, value={})
        assert await users.send(invoke) == 501
    for value in ({}, {"action": None}, {"action": {"type": "Action.Submit"}}, {"action": []}):
        invoke = users.activity(
            ALICE, APPROVALS, type="invoke", name="adaptiveCard/action", value=value
        )
        body = await users.send(invoke)
        assert body["value"]
        assert body["type"].endswith("activity.message")


async def test_must_read_and_see_all_of_it(scene: Scene, users: TeamsUsers) -> None:
    """Given arguments that are too long for the card; when Alice approves, then she gets all of it to read
    first; on its last page she approves."""
    call = ToolCall("c1", "send_email", {"to": "jo@example.com", "body": "word " * 12_000})
    waiting = await ask(scene, call, interrupt_on={})
    message = await card(users, "send_email")
    seen = await users.press(ALICE, "Read all, then approve", message)
    assert not waiting.done()
    pages = 1
    while "Approve" not in actions(message.card_for(ALICE)):
        label = next(one for one in actions(message.card_for(ALICE)) if "▶" in one)
        seen = await users.press(ALICE, label, message)
        pages += 1
    assert pages > 1
    assert "word" in seen
    assert "approved by “Alice Ng”" in await users.press(ALICE, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1


async def test_the_review_page_by_page(scene: Scene, users: TeamsUsers) -> None:
    """Given more actions than a card shows; when Alice reads them one by one and decides each, then she gets
    the next one that waits, and all run."""
    calls = [ToolCall(f"c{at}", f"tool_{at:02}", {"text": "x " * 300}) for at in range(30)]
    waiting = await ask(scene, *calls, interrupt_on={})
    message = await card(users, "30")
    label = next(one for one in actions(message.card) if one.startswith("Review"))
    seen = await users.press(ALICE, label, message)
    for call in calls:
        assert call.name in seen
        seen = await users.press(ALICE, "Approve", message)
    assert len((await outcome(waiting)).execute) == 30


async def test_a_card_in_a_personal_chat(scene: Scene, users: TeamsUsers) -> None:
    """Given a review for one person; when she escalates it from her chat, then the next channel has it; when
    she approves it there, then it runs."""
    chain = [{"after": "1h", "to": f"teams:{OPS}"}]
    waiting = await ask(scene, notify=[f"teams:{ALICE}"], escalate=chain)
    message = await card(users, "send_email", conversation=users.chat(ALICE))
    label = next(one for one in actions(message.card) if one.startswith("Escalate"))
    await users.press(ALICE, label, message)
    await users.submit(ALICE, message, "For you")
    await card(users, "send_email", "For you", conversation=OPS)
    newer = await card(users, "Escalated", conversation=users.chat(ALICE))
    await users.press(ALICE, "Approve", newer)
    assert len((await outcome(waiting)).execute) == 1


async def test_group_members_have_own_copies(scene: Scene, users: TeamsUsers) -> None:
    """Given a review for an Entra group; then each member has a card in their chat; when Carl edits and
    approves his, then both say so."""
    waiting = await ask(scene, notify=[f"teams:group:{OPS_GROUP}"])
    messages = [
        await card(users, "send_email", conversation=users.chat(one)) for one in (CARL, DANA)
    ]
    await users.press(CARL, "Edit", messages[0])
    await users.submit(CARL, messages[0], copies="4")
    [call] = (await outcome(waiting)).execute
    assert call.args["copies"] == 4
    for one in (CARL, DANA):
        await card(users, "edited and approved by", conversation=users.chat(one))


async def test_a_card_in_the_thread_where_somebody_asked(scene: Scene, users: TeamsUsers) -> None:
    """Given a person who asked an agent in a thread of a channel, and a policy that notifies `origin`; then
    the card is a reply there, and a member of the channel decides on it."""
    workspace = users.sandbox.workspace
    question = workspace.add_message(users.conversation(OPS), users.user(DANA).mri)
    gate = await scene.gate(json.dumps(POLICY | {"notify": "origin"}))
    waiting = scene.ask(gate, email(), origin=f"teams:{OPS}/{question.id}")
    message = await card(users, "send_email", conversation=OPS)
    assert message.root == question.id
    assert "approved by" in await users.press(DANA, "Approve", message)
    assert (await outcome(waiting)).execute[0].name == "send_email"


async def test_an_origin_that_does_not_exist_is_reported(scene: Scene, users: TeamsUsers) -> None:
    """Given an origin whose first message does not exist; then the review waits, with the reason why it can't
    be shown there."""
    gate = await scene.gate(json.dumps(POLICY | {"notify": "origin"}))
    origin = f"teams:{OPS}/1700000000000"
    review_id = await gate.submit([email()], thread_id="t-1", origin=origin)

    async def find_problem() -> str | None:
        review = (await gate.reviews.load(review_id)).review
        problem = review.delivery_problems.get(Place(origin))
        return problem and problem.why

    assert "no such conversation" in await wait_until("a problem", find_problem)
