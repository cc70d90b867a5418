"""A person presses buttons of a card; the bot answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from teams_sandbox.client import Person, ScriptError
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import TENANT, Message, ids
from tests.teams_sandbox.bots import CARD, ERROR, MESSAGE, PlainBot, answer, running_bot
from tests.teams_sandbox.cards import button, buttons, card, choices, field, text
from tests.teams_sandbox.conftest import Rest

PENDING = card(
    text("Refund 7 EUR"),
    field("Text", id="f_why", label="Why", isRequired=True, errorMessage="Say why."),
    choices("0", "1", id="f_to", label="To"),
    buttons(
        button("Approve", data={"hitl": "press", "f_why": "mine"}, verb="approve"),
        button("Later", associatedInputs="none", isEnabled=True),
    ),
)
DONE = card(text("Approved by Alice"))


@pytest.fixture
async def bot(sandbox: Sandbox) -> AsyncIterator[PlainBot]:
    async with running_bot() as running:
        sandbox.bot_url = running.url
        yield running


@pytest.fixture
async def message(rest: Rest, sandbox: Sandbox) -> Message:
    """A card in the General channel of the approvers."""
    return await post(rest, sandbox)


async def post(rest: Rest, sandbox: Sandbox, content: dict[str, Any] = PENDING) -> Message:
    attachment = {"contentType": CARD, "content": content}
    sent = await rest.post(ids.APPROVALS, {"type": "message", "attachments": [attachment]})
    return sandbox.workspace.conversations[ids.APPROVALS].messages[sent.json()["id"]]


async def test_a_press_sends_the_data_and_the_inputs_as_an_invoke(
    sandbox: Sandbox, bot: PlainBot, message: Message
):
    alice = Person(sandbox, ids.ALICE)
    await alice.press(message, "Approve", {"Why": "It is right.", "f_to": "1"})
    [activity] = bot.activities
    assert (activity["name"], activity["replyToId"]) == ("adaptiveCard/action", message.id)
    assert activity["value"]["trigger"] == "manual"
    assert activity["value"]["action"]["verb"] == "approve"
    assert activity["value"]["action"]["data"] == {
        "hitl": "press",
        "f_why": "It is right.",
        "f_to": "1",
    }
    assert activity["from"]["aadObjectId"] == ids.ALICE
    assert activity["recipient"]["id"] == sandbox.app.mri
    assert activity["conversation"]["id"] == f"{ids.APPROVALS};messageid={message.root}"
    assert activity["conversation"]["tenantId"] == activity["channelData"]["tenant"]["id"] == TENANT
    assert activity["channelData"]["team"]["aadGroupId"] == ids.APPROVALS_GROUP
    assert activity["id"].startswith("f:")


async def test_a_press_in_a_personal_chat_names_the_message_and_its_old_id(
    rest: Rest, sandbox: Sandbox, bot: PlainBot
):
    alice = Person(sandbox, ids.ALICE)
    attachment = {"contentType": CARD, "content": PENDING}
    sent = await rest.post(alice.chat, {"type": "message", "attachments": [attachment]})
    [message] = alice.messages(alice.chat)
    await alice.press(message, "Later")
    [activity] = bot.activities
    assert activity["replyToId"] == message.id == sent.json()["id"]
    assert activity["channelData"]["legacy"]["replyToId"].startswith("1:1")
    assert activity["conversation"]["id"] == alice.chat


async def test_a_card_in_the_answer_is_for_the_person_alone_until_the_message_changes(
    rest: Rest, sandbox: Sandbox, bot: PlainBot, message: Message
):
    alice, bob = Person(sandbox, ids.ALICE), Person(sandbox, ids.BOB)
    bot.answers = [(200, answer(DONE))]
    result = await alice.press(message, "Later")
    assert (result.card, alice.text(message)) == (DONE, "Approved by Alice")
    assert "Refund 7 EUR" in bob.text(message)
    alice.reload()
    assert "Refund 7 EUR" in alice.text(message)
    attachment = {"contentType": CARD, "content": card(text("Approved for all"))}
    activity = {"type": "message", "attachments": [attachment]}
    await rest.put(ids.APPROVALS, message.id, activity)
    assert alice.text(message) == bob.text(message) == "Approved for all"


async def test_a_sentence_or_an_error_is_shown_to_the_person_alone(
    sandbox: Sandbox, bot: PlainBot, message: Message
):
    alice, bob = Person(sandbox, ids.ALICE), Person(sandbox, ids.BOB)
    error = answer({"code": "NotYours", "message": "No."}, ERROR, status=400)
    bot.answers = [(200, answer("Not you.", MESSAGE)), (200, error)]
    assert (await alice.press(message, "Later")).notice == "Not you."
    assert (await alice.press(message, "Later")).error == "No."
    assert [(one.text, one.is_error) for one in alice.notices()] == [
        ("Not you.", False),
        ("No.", True),
    ]
    assert not bob.notices()


async def test_an_input_that_is_wrong_sends_nothing(
    sandbox: Sandbox, bot: PlainBot, message: Message
):
    result = await Person(sandbox, ids.ALICE).press(message, "Approve")
    assert (result.errors, bot.activities) == ({"f_why": "Say why."}, [])


@pytest.mark.parametrize("empty", [None, answer("", MESSAGE)])
async def test_an_empty_answer_is_an_error_and_the_same_invoke_comes_again(
    sandbox: Sandbox, bot: PlainBot, message: Message, empty: Any
):
    bot.answers = [(200, empty)]
    result = await Person(sandbox, ids.ALICE).press(message, "Later")
    assert result.error.startswith("Unable to reach app")
    first, second = bot.activities
    assert first == second


@pytest.mark.parametrize(
    "wrong",
    [
        (500, {"error": "x"}),
        (200, {"type": MESSAGE, "value": "x"}),
        (200, answer("x", "text/plain")),
        (200, answer({**DONE, "colour": "red"})),
        (200, answer("x", MESSAGE) | {"more": 1}),
        (200, answer(DONE, status=201)),
        (200, answer({"code": "x"}, ERROR, status=400)),
    ],
)
async def test_an_answer_that_teams_does_not_take_is_an_error_and_changes_nothing(
    sandbox: Sandbox, bot: PlainBot, message: Message, wrong: tuple[int, Any]
):
    bot.answers = [wrong]
    result = await Person(sandbox, ids.ALICE).press(message, "Later")
    assert result.error
    assert result.problem
    assert not message.cards


async def test_a_bot_that_does_not_answer_is_an_error(
    sandbox: Sandbox, bot: PlainBot, message: Message
):
    bot.gate.clear()
    sandbox.bot_client.answer_timeout = 0.05
    result = await Person(sandbox, ids.ALICE).press(message, "Later")
    assert result.error.startswith("Unable to reach app")


async def test_nobody_presses_what_they_can_not_see(
    sandbox: Sandbox, bot: PlainBot, message: Message
):
    with pytest.raises(ScriptError, match="sees no card"):
        await Person(sandbox, ids.CARL).press(message, "Later")
    with pytest.raises(ScriptError, match="no button"):
        await Person(sandbox, ids.ALICE).press(message, "Reject")
    assert not bot.activities


async def test_the_buttons_of_an_answer_are_the_ones_that_count(
    sandbox: Sandbox, bot: PlainBot, message: Message
):
    """As for an edit: the form replaces the card for the person who opened it."""
    alice = Person(sandbox, ids.ALICE)
    bot.answers = [(200, answer(card(text("Sure?"), buttons(button("Yes", data={"sure": "1"})))))]
    await alice.press(message, "Later")
    assert alice.buttons(message) == ["Yes"]
    await alice.press(message, "Yes")
    assert bot.activities[-1]["value"]["action"]["data"] == {"sure": "1"}
