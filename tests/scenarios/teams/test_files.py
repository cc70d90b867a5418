"""Files in Teams contain all arguments of a call that is too long for cards."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from bot import refusals
from bot.channels.teams.handlers import files as texts
from hitl_core import ToolCall
from teams_sandbox.client import Person
from teams_sandbox.interactions import consent_of
from teams_sandbox.workspace import Message
from teams_sandbox.workspace.acme import ALICE, APPROVALS, BOB, ESCALATIONS, GROUP_CHAT, OPS
from tests.support.bots import CANARY, Scene
from tests.support.teams.hands import TeamsHands, actions, text_of
from tests.support.teams.scene import ask, card
from tests.support.waiting import wait_until

BUTTON = "Send it as a file"
LONG = f"{CANARY} " + "word " * 4000 + "the end"
NOTE = ToolCall("c1", "note", {"body": LONG, "pass": "hunter2"})
RULE = {"note": {"redact": ["/pass"]}}


async def offer(scene: Scene, hands: TeamsHands, who: str = ALICE) -> Message:
    """The question in the person's own chat, after they asked for the file."""
    await ask(scene, NOTE, interrupt_on=RULE)
    message = await card(hands, "note")
    await hands.press(who, next(iter(actions(message.card))), message)  # all arguments
    assert await hands.press(who, BUTTON, message) == texts.OFFERED
    return question(hands, who)


def question(hands: TeamsHands, who: str) -> Message:
    messages = hands.conversation(hands.chat(who)).messages.values()
    return [one for one in messages if consent_of(one)][-1]


def context_of(message: Message) -> Any:
    return (consent_of(message) or {})["content"]["acceptContext"]


async def answer(
    hands: TeamsHands,
    who: str,
    message: Message,
    action: Literal["accept", "decline"] = "accept",
    **changed: Any,
) -> None:
    reply = await hands.sandbox.consents.answer(hands.user(who), message, action, **changed)
    assert reply is not None
    assert (reply.status, reply.body) == (200, "")


async def sentence(hands: TeamsHands, who: str, text: str) -> None:
    await hands.message(text[:60], conversation=hands.chat(who))


def file_of(hands: TeamsHands, who: str) -> dict[str, str]:
    return Person(hands.sandbox, who).files()


async def test_teams_13_a_file_into_my_own_onedrive(scene: Scene, hands: TeamsHands) -> None:
    """Given arguments of many pages; when Alice asks for a file and accepts it, then all of them are in her
    OneDrive, without what is hidden, and the question became the file."""
    message = await offer(scene, hands)
    consent = consent_of(message)
    assert consent is not None
    assert CANARY not in json.dumps(consent)  # ids only
    await answer(hands, ALICE, message)
    files = await wait_until("the file", lambda: file_of(hands, ALICE))
    assert list(files) == ["note.txt"]
    assert LONG in files["note.txt"]
    assert "hunter2" not in files["note.txt"]
    assert len(files["note.txt"].encode()) == consent["content"]["sizeInBytes"]
    [info] = await wait_until("the card of the file", lambda: infos(message))
    assert info["name"] == "note.txt"
    [call] = hands.sandbox.files.calls
    assert "Authorization" not in call["headers"]


def infos(message: Message) -> list[Any]:
    return [one for one in message.attachments if "file.info" in one["contentType"]]


async def test_teams_13_a_file_from_a_form_keeps_the_form(scene: Scene, hands: TeamsHands) -> None:
    """Given a form that can't show a value; when Alice asks for the file, then her form stays."""
    rule = {"note": {"allowed_decisions": ["approve", "edit"], "must_read": False}}
    await ask(scene, NOTE, interrupt_on=rule)
    message = await card(hands, "note")
    form = await hands.press(ALICE, "Edit", message)
    assert await hands.press(ALICE, BUTTON, message) == texts.OFFERED
    assert text_of(message.card_for(ALICE)) == form
    await answer(hands, ALICE, question(hands, ALICE))
    assert LONG in (await wait_until("the file", lambda: file_of(hands, ALICE)))["note.txt"]


async def test_teams_13_a_declined_file(scene: Scene, hands: TeamsHands) -> None:
    """Given the question; when Alice declines, then it says so, and nothing was stored; when she then accepts
    by an old client, then a sentence says that it is too late."""
    message = await offer(scene, hands)
    context = context_of(message)
    await answer(hands, ALICE, message, "decline")
    await sentence(hands, ALICE, texts.DECLINED)
    assert not file_of(hands, ALICE)
    await invoke(hands, ALICE, message, context)
    await sentence(hands, ALICE, texts.ON_ITS_WAY)
    assert not file_of(hands, ALICE)


async def invoke(
    hands: TeamsHands, who: str, message: Message, context: Any, **fields: Any
) -> None:
    info = hands.sandbox.files.open_upload(hands.user(who), "note.txt")
    value = {"type": "fileUpload", "action": "accept", "context": context, "uploadInfo": info}
    activity = hands.activity(
        who, message.conversation, type="invoke", name="fileConsent/invoke",
        replyToId=message.id, value=value | fields,
    )  # fmt: skip
    assert await hands.send(activity) == 200


async def test_teams_13_a_second_accept(scene: Scene, hands: TeamsHands) -> None:
    """Given a file that Alice accepted; when she accepts it again, then a sentence says so, and there is one
    file."""
    message = await offer(scene, hands)
    context = context_of(message)
    await answer(hands, ALICE, message)
    await wait_until("the card of the file", lambda: infos(message))
    await invoke(hands, ALICE, message, context)
    await sentence(hands, ALICE, texts.ON_ITS_WAY)
    assert len(hands.sandbox.files.calls) == 1


async def test_teams_13_an_accept_that_teams_repeats(scene: Scene, hands: TeamsHands) -> None:
    """Given an accepted file; when Teams sends the same invoke again, then nothing more is said or sent."""
    message = await offer(scene, hands)
    await answer(hands, ALICE, message)
    await wait_until("the card of the file", lambda: infos(message))
    before = len(hands.conversation(hands.chat(ALICE)).messages)
    await hands.send(hands.sandbox.bot_client.deliveries[-1]["activity"])
    await hands.write(ALICE, "help")  # which is handled after it
    await hands.message("Write “approvals”", conversation=hands.chat(ALICE))
    assert len(hands.conversation(hands.chat(ALICE)).messages) == before + 1
    assert len(hands.sandbox.files.calls) == 1


@pytest.mark.parametrize("mode", ["down", "refused", "limited", "dropped"])
async def test_teams_13_an_upload_that_fails(scene: Scene, hands: TeamsHands, mode: Any) -> None:
    """Given a OneDrive that fails; when Alice accepts, then a sentence says so, and she can ask again."""
    message = await offer(scene, hands)
    hands.sandbox.faults.add(mode, "upload", times=1)
    await answer(hands, ALICE, message)
    await sentence(hands, ALICE, texts.NOT_UPLOADED)
    assert not file_of(hands, ALICE)
    shown = await card(hands, "note")
    assert await hands.press(ALICE, BUTTON, shown) == texts.OFFERED
    await answer(hands, ALICE, question(hands, ALICE))
    await wait_until("the file", lambda: file_of(hands, ALICE))


async def test_teams_13_a_file_whose_card_can_not_be_shown(scene: Scene, hands: TeamsHands) -> None:
    """Given a file that arrived; when its card can't be shown, then a sentence says where the file is."""
    message = await offer(scene, hands)
    hands.sandbox.faults.add("down", "update", conversation=hands.chat(ALICE))
    await answer(hands, ALICE, message)
    await sentence(hands, ALICE, texts.UPLOADED)
    assert LONG in file_of(hands, ALICE)["note.txt"]


@pytest.mark.parametrize(
    "changed",
    [
        {"uploadUrl": "https://evil.example/upload"},
        {"uploadUrl": "http://127.0.0.1:1@evil.example/"},
        {"contentUrl": "https://evil.example/note.txt"},
    ],
)
async def test_teams_13_a_file_goes_to_no_other_host(
    scene: Scene, hands: TeamsHands, changed: dict[str, Any]
) -> None:
    """Given an accept with an address that is not allowed, then nothing is sent there, and Alice is told."""
    message = await offer(scene, hands)
    await answer(hands, ALICE, message, **changed)
    await sentence(hands, ALICE, texts.WRONG_ADDRESS)
    assert not hands.sandbox.files.calls


async def test_teams_13_a_person_without_the_app(scene: Scene, hands: TeamsHands) -> None:
    """Given Alice removed the app from her chat; when she asks for a file, then she learns what to do."""
    hands.user(ALICE).has_app = False
    await ask(scene, NOTE, interrupt_on=RULE)
    message = await card(hands, "note")
    await hands.press(ALICE, next(iter(actions(message.card))), message)
    assert await hands.press(ALICE, BUTTON, message) == texts.NO_CHAT


async def test_teams_13_another_persons_accept(scene: Scene, hands: TeamsHands) -> None:
    """Given Alice's question; when Bob's client sends its context from his own chat, or with a form's, or
    changes it, then it is refused, and he gets no file."""
    message = await offer(scene, hands)
    context = context_of(message)
    elsewhere = Message(hands.chat(BOB), message.id, "")
    await invoke(hands, BOB, elsewhere, context)
    await sentence(hands, BOB, "This button can't be read")
    for wrong in ({}, {**context, "value": "x file.0-1.1.1"}, {**context, "hitl": "press"}):
        await invoke(hands, ALICE, message, wrong)
    await sentence(hands, ALICE, "This button can't be read")
    assert not hands.sandbox.files.calls


async def test_teams_13_a_file_of_a_review_that_is_gone(scene: Scene, hands: TeamsHands) -> None:
    """Given the question; when the review was deleted before Alice accepts, then a sentence says so."""
    message = await offer(scene, hands)
    redis = await scene.redis()
    async for key in redis.scan_iter("hitl:{0}:*"):
        await redis.delete(key)
    await answer(hands, ALICE, message)
    await sentence(hands, ALICE, refusals.NO_REVIEW)
    assert not hands.sandbox.files.calls


async def test_teams_13_a_file_that_was_answered_long_ago(scene: Scene, hands: TeamsHands) -> None:
    """Given a file that arrived a while ago; when an old client accepts it again, then a sentence says so."""
    message = await offer(scene, hands)
    context = context_of(message)
    await answer(hands, ALICE, message)
    await wait_until("the card of the file", lambda: infos(message))
    redis = await scene.redis()
    async for key in redis.scan_iter("hitl:claim:*"):
        await redis.delete(key)
    await invoke(hands, ALICE, message, context)
    await sentence(hands, ALICE, texts.ANSWERED)
    assert len(hands.sandbox.files.calls) == 1


async def test_teams_13_who_may_no_longer_see_it_gets_no_file(
    scene: Scene, hands: TeamsHands
) -> None:
    """Given the question; when Bob leaves the team before he accepts, then he is refused."""
    message = await offer(scene, hands, BOB)
    await hands.sandbox.teams.remove_member(APPROVALS, BOB, ALICE)
    await answer(hands, BOB, message)
    await sentence(hands, BOB, "Only ")
    assert not hands.sandbox.files.calls


async def test_teams_13_a_file_is_posted_in_the_channel_of_the_person_who_asks(
    scene: Scene, hands: TeamsHands
) -> None:
    """Given one review at several places of Teams and at one of Slack; when Alice asks for the file in Slack,
    then it is below the card there. (Redis gives the places in any order.)"""
    places = [f"teams:{one}" for one in (APPROVALS, OPS, ESCALATIONS, GROUP_CHAT)]
    await ask(scene, NOTE, interrupt_on=RULE, notify=[*places, "slack:#agent-approvals"])
    for one in (APPROVALS, OPS, ESCALATIONS, GROUP_CHAT):
        await card(hands, "note", conversation=one)
    await scene.alice.press(await scene.card("note"), "see")
    await scene.hands.click_view(scene.alice.id, "file")
    assert "below the card in #agent-approvals" in await scene.alice.modal()
