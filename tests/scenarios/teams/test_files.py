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
from tests.support.teams.scene import ask, card
from tests.support.teams.users import TeamsUsers, actions, text_of
from tests.support.waiting import wait_until

BUTTON = "Send it as a file"
LONG = f"{CANARY} " + "word " * 4000 + "the end"
NOTE = ToolCall("c1", "note", {"body": LONG, "pass": "hunter2"})
RULE = {"note": {"redact": ["/pass"]}}


async def offer(scene: Scene, users: TeamsUsers, who: str = ALICE) -> Message:
    """The question in the person's own chat, after they asked for the file."""
    await ask(scene, NOTE, interrupt_on=RULE)
    message = await card(users, "note")
    await users.press(who, next(iter(actions(message.card))), message)  # all arguments
    assert await users.press(who, BUTTON, message) == texts.OFFERED
    return question(users, who)


def question(users: TeamsUsers, who: str) -> Message:
    messages = users.conversation(users.chat(who)).messages.values()
    return [one for one in messages if consent_of(one)][-1]


def context_of(message: Message) -> Any:
    return (consent_of(message) or {})["content"]["acceptContext"]


async def answer(
    users: TeamsUsers,
    who: str,
    message: Message,
    action: Literal["accept", "decline"] = "accept",
    **changed: Any,
) -> None:
    reply = await users.sandbox.consents.answer(users.user(who), message, action, **changed)
    assert reply is not None
    assert (reply.status, reply.body) == (200, "")


async def sentence(users: TeamsUsers, who: str, text: str) -> None:
    await users.message(text[:60], conversation=users.chat(who))


def file_of(users: TeamsUsers, who: str) -> dict[str, str]:
    return Person(users.sandbox, who).files()


async def test_a_file_into_my_own_onedrive(scene: Scene, users: TeamsUsers) -> None:
    """Given arguments of many pages; when Alice asks for a file and accepts it, then all of them are in her
    OneDrive, without what is hidden, and the question became the file."""
    message = await offer(scene, users)
    consent = consent_of(message)
    assert consent is not None
    assert CANARY not in json.dumps(consent)  # ids only
    await answer(users, ALICE, message)
    files = await wait_until("the file", lambda: file_of(users, ALICE))
    assert list(files) == ["note.txt"]
    assert LONG in files["note.txt"]
    assert "hunter2" not in files["note.txt"]
    assert len(files["note.txt"].encode()) == consent["content"]["sizeInBytes"]
    [info] = await wait_until("the card of the file", lambda: infos(message))
    assert info["name"] == "note.txt"
    [call] = users.sandbox.files.calls
    assert "Authorization" not in call["headers"]


def infos(message: Message) -> list[Any]:
    return [one for one in message.attachments if "file.info" in one["contentType"]]


async def test_a_file_from_a_form_keeps_the_form(scene: Scene, users: TeamsUsers) -> None:
    """Given a form that can't show a value; when Alice asks for the file, then her form stays."""
    rule = {"note": {"allowed_decisions": ["approve", "edit"], "must_read": False}}
    await ask(scene, NOTE, interrupt_on=rule)
    message = await card(users, "note")
    form = await users.press(ALICE, "Edit", message)
    assert await users.press(ALICE, BUTTON, message) == texts.OFFERED
    assert text_of(message.card_for(ALICE)) == form
    await answer(users, ALICE, question(users, ALICE))
    assert LONG in (await wait_until("the file", lambda: file_of(users, ALICE)))["note.txt"]


async def test_a_declined_file(scene: Scene, users: TeamsUsers) -> None:
    """Given the question; when Alice declines, then it says so, and nothing was stored; when she then accepts
    by an old client, then a sentence says that it is too late."""
    message = await offer(scene, users)
    context = context_of(message)
    await answer(users, ALICE, message, "decline")
    await sentence(users, ALICE, texts.DECLINED)
    assert not file_of(users, ALICE)
    await invoke(users, ALICE, message, context)
    await sentence(users, ALICE, texts.ON_ITS_WAY)
    assert not file_of(users, ALICE)


async def invoke(
    users: TeamsUsers, who: str, message: Message, context: Any, **fields: Any
) -> None:
    info = users.sandbox.files.open_upload(users.user(who), "note.txt")
    value = {"type": "fileUpload", "action": "accept", "context": context, "uploadInfo": info}
    activity = users.activity(
        who, message.conversation, type="invoke", name="fileConsent/invoke",
        replyToId=message.id, value=value | fields,
    )  # fmt: skip
    assert await users.send(activity) == 200


async def test_a_second_accept(scene: Scene, users: TeamsUsers) -> None:
    """Given a file that Alice accepted; when she accepts it again, then a sentence says so, and there is one
    file."""
    message = await offer(scene, users)
    context = context_of(message)
    await answer(users, ALICE, message)
    await wait_until("the card of the file", lambda: infos(message))
    await invoke(users, ALICE, message, context)
    await sentence(users, ALICE, texts.ON_ITS_WAY)
    assert len(users.sandbox.files.calls) == 1


async def test_an_accept_that_teams_repeats(scene: Scene, users: TeamsUsers) -> None:
    """Given an accepted file; when Teams sends the same invoke again, then nothing more is said or sent."""
    message = await offer(scene, users)
    await answer(users, ALICE, message)
    await wait_until("the card of the file", lambda: infos(message))
    before = len(users.conversation(users.chat(ALICE)).messages)
    await users.send(users.sandbox.bot_client.deliveries[-1]["activity"])
    await users.write(ALICE, "help")  # which is handled after it
    await users.message("Write “approvals”", conversation=users.chat(ALICE))
    assert len(users.conversation(users.chat(ALICE)).messages) == before + 1
    assert len(users.sandbox.files.calls) == 1


@pytest.mark.parametrize("mode", ["down", "refused", "limited", "dropped"])
async def test_an_upload_that_fails(scene: Scene, users: TeamsUsers, mode: Any) -> None:
    """Given a OneDrive that fails; when Alice accepts, then a sentence says so, and she can ask again."""
    message = await offer(scene, users)
    users.sandbox.faults.add(mode, "upload", times=1)
    await answer(users, ALICE, message)
    await sentence(users, ALICE, texts.NOT_UPLOADED)
    assert not file_of(users, ALICE)
    shown = await card(users, "note")
    assert await users.press(ALICE, BUTTON, shown) == texts.OFFERED
    await answer(users, ALICE, question(users, ALICE))
    await wait_until("the file", lambda: file_of(users, ALICE))


async def test_a_file_whose_card_can_not_be_shown(scene: Scene, users: TeamsUsers) -> None:
    """Given a file that arrived; when its card can't be shown, then a sentence says where the file is."""
    message = await offer(scene, users)
    users.sandbox.faults.add("down", "update", conversation=users.chat(ALICE))
    await answer(users, ALICE, message)
    await sentence(users, ALICE, texts.UPLOADED)
    assert LONG in file_of(users, ALICE)["note.txt"]


@pytest.mark.parametrize(
    "changed",
    [
        {"uploadUrl": "https://evil.example/upload"},
        {"uploadUrl": "http://127.0.0.1:1@evil.example/"},
        {"contentUrl": "https://evil.example/note.txt"},
    ],
)
async def test_a_file_goes_to_no_other_host(
    scene: Scene, users: TeamsUsers, changed: dict[str, Any]
) -> None:
    """Given an accept with an address that is not allowed, then nothing is sent there, and Alice is told."""
    message = await offer(scene, users)
    await answer(users, ALICE, message, **changed)
    await sentence(users, ALICE, texts.WRONG_ADDRESS)
    assert not users.sandbox.files.calls


async def test_a_person_without_the_app(scene: Scene, users: TeamsUsers) -> None:
    """Given Alice removed the app from her chat; when she asks for a file, then she learns what to do."""
    users.user(ALICE).has_app = False
    await ask(scene, NOTE, interrupt_on=RULE)
    message = await card(users, "note")
    await users.press(ALICE, next(iter(actions(message.card))), message)
    assert await users.press(ALICE, BUTTON, message) == texts.NO_CHAT


async def test_another_persons_accept(scene: Scene, users: TeamsUsers) -> None:
    """Given Alice's question; when Bob's client sends its context from his own chat, or with a form's, or
    changes it, then it is refused, and he gets no file."""
    message = await offer(scene, users)
    context = context_of(message)
    elsewhere = Message(users.chat(BOB), message.id, "")
    await invoke(users, BOB, elsewhere, context)
    await sentence(users, BOB, "This button can't be read")
    for wrong in ({}, {**context, "value": "x file.0-1.1.1"}, {**context, "hitl": "press"}):
        await invoke(users, ALICE, message, wrong)
    await sentence(users, ALICE, "This button can't be read")
    assert not users.sandbox.files.calls


async def test_a_file_of_a_review_that_is_gone(scene: Scene, users: TeamsUsers) -> None:
    """Given the question; when the review was deleted before Alice accepts, then a sentence says so."""
    message = await offer(scene, users)
    redis = await scene.redis()
    async for key in redis.scan_iter("hitl:{0}:*"):
        await redis.delete(key)
    await answer(users, ALICE, message)
    await sentence(users, ALICE, refusals.NO_REVIEW)
    assert not users.sandbox.files.calls


async def test_a_file_that_was_answered_long_ago(scene: Scene, users: TeamsUsers) -> None:
    """Given a file that arrived a while ago; when an old client accepts it again, then a sentence says so."""
    message = await offer(scene, users)
    context = context_of(message)
    await answer(users, ALICE, message)
    await wait_until("the card of the file", lambda: infos(message))
    redis = await scene.redis()
    async for key in redis.scan_iter("hitl:lock:*"):
        await redis.delete(key)
    await invoke(users, ALICE, message, context)
    await sentence(users, ALICE, texts.ANSWERED)
    assert len(users.sandbox.files.calls) == 1


async def test_who_may_no_longer_see_it_gets_no_file(scene: Scene, users: TeamsUsers) -> None:
    """Given the question; when Bob leaves the team before he accepts, then he is refused."""
    message = await offer(scene, users, BOB)
    await users.sandbox.teams.remove_member(APPROVALS, BOB, ALICE)
    await answer(users, BOB, message)
    await sentence(users, BOB, "Only ")
    assert not users.sandbox.files.calls


async def test_a_file_is_posted_in_the_channel_of_the_person_who_asks(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given one review at several places of Teams and at one of Slack; when Alice asks for the file in Slack,
    then it is below the card there. (Redis gives the places in any order.)"""
    places = [f"teams:{one}" for one in (APPROVALS, OPS, ESCALATIONS, GROUP_CHAT)]
    await ask(scene, NOTE, interrupt_on=RULE, notify=[*places, "slack:#agent-approvals"])
    for one in (APPROVALS, OPS, ESCALATIONS, GROUP_CHAT):
        await card(users, "note", conversation=one)
    await scene.alice.press(await scene.card("note"), "see")
    await scene.actor.click_view(scene.alice.id, "file")
    assert "below the card in #agent-approvals" in await scene.alice.modal()
