"""Posting, updating and deleting through the Connector."""

from __future__ import annotations

import httpx
import pytest

from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import TENANT, ids
from tests.teams_sandbox.conftest import Rest, card_activity, code_of

CARD_ATTACHMENT = card_activity()["attachments"][0]


def thread_in(channel: str, **more: object) -> dict[str, object]:
    return {
        "isGroup": True,
        "channelData": {"channel": {"id": channel}},
        "activity": card_activity(),
        **more,
    }


def chat_with(user: str, **more: object) -> dict[str, object]:
    return {"members": [{"id": user}], "tenantId": TENANT, **more}


async def test_a_post_in_a_channel_begins_a_thread_and_replies_are_in_it(
    rest: Rest, sandbox: Sandbox
):
    created = await rest.call("POST", "conversations", thread_in(ids.APPROVALS))
    root = created.json()["activityId"]
    assert (created.status_code, created.json()["id"]) == (
        201,
        f"{ids.APPROVALS};messageid={root}",
    )
    reply = await rest.post(created.json()["id"], card_activity("a reply"))
    channel = sandbox.workspace.conversations[ids.APPROVALS]
    assert [one.id for one in channel.replies(root)] == [reply.json()["id"]]


async def test_a_post_to_the_channel_itself_begins_another_thread(rest: Rest, sandbox: Sandbox):
    """Also one to …/activities/ROOT, as in Teams."""
    root = (await rest.post(ids.OPS)).json()["id"]
    path = f"conversations/{ids.OPS}/activities/{root}"
    other = (await rest.call("POST", path, card_activity())).json()["id"]
    channel = sandbox.workspace.conversations[ids.OPS]
    assert [one.root for one in channel.messages.values()] == [root, other]


async def test_an_update_replaces_the_activity_and_a_deletion_removes_it(
    rest: Rest, sandbox: Sandbox
):
    sent = (await rest.post(ids.GROUP_CHAT)).json()["id"]
    updated = await rest.put(ids.GROUP_CHAT, sent, {**card_activity("new"), "id": sent})
    message = sandbox.workspace.conversations[ids.GROUP_CHAT].messages[sent]
    assert (updated.json(), message.edited_at is not None) == ({"id": sent}, True)
    assert message.card == card_activity("new")["attachments"][0]["content"]
    assert (await rest.delete(ids.GROUP_CHAT, sent)).status_code == 200
    assert message.deleted
    gone = await rest.put(ids.GROUP_CHAT, sent, card_activity())
    assert code_of(gone) == (404, "ActivityNotFoundInConversation")


async def test_a_chat_with_a_person_is_always_the_same(rest: Rest, sandbox: Sandbox):
    mri = sandbox.workspace.users[ids.ALICE].mri
    bodies = [chat_with(ids.ALICE), chat_with(mri), chat_with(ids.ALICE, bot={"id": "28:x"})]
    bodies[2]["bot"] = {"id": sandbox.app.mri}
    answers = [await rest.call("POST", "conversations", body) for body in bodies]
    assert {answer.status_code for answer in answers} == {201}
    [chat] = {answer.json()["id"] for answer in answers}
    assert chat.startswith("a:1")
    assert (await rest.post(chat)).json()["id"].isdigit()


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        (ids.NOAPP, (403, "ForbiddenOperationException")),
        (ids.SAM, (400, "MemberNotFoundInConversation")),
        (ids.GONE, (400, "MemberNotFoundInConversation")),
        ("alice@acme.example", (400, "MemberNotFoundInConversation")),
        ("00000000-0000-4000-8000-000000000000", (400, "MemberNotFoundInConversation")),
    ],
)
async def test_a_chat_is_refused_with_somebody_who_can_not_have_one(
    rest: Rest, user: str, expected: tuple[int, str]
):
    assert code_of(await rest.call("POST", "conversations", chat_with(user))) == expected


@pytest.mark.parametrize(
    ("conversation", "expected"),
    [
        (ids.NO_BOT, (403, "BotNotInConversationRoster")),
        (ids.PRIVATE, (403, "BotNotInConversationRoster")),
        (ids.NO_BOT_CHAT, (403, "BotNotInConversationRoster")),
        ("19:nowhere@thread.tacv2", (404, "ConversationNotFound")),
        (f"{ids.OPS};messageid=1", (404, "ConversationNotFound")),
        (f"{ids.GROUP_CHAT};messageid=1", (404, "ConversationNotFound")),
    ],
)
async def test_a_post_is_refused_where_the_bot_is_not(
    rest: Rest, conversation: str, expected: tuple[int, str]
):
    assert code_of(await rest.post(conversation)) == expected


def blocks_writes(response: httpx.Response) -> bool:
    """The error for a person who blocked the bot, or a thread that nobody writes in: in its own form."""
    body = response.json()
    return response.status_code == 403 and body["errorCode"] == 209 and "error" not in body


@pytest.mark.parametrize("conversation", [ids.ARCHIVED, ids.OLD_TEAM])
async def test_nobody_writes_in_an_archived_channel_or_team(rest: Rest, conversation: str):
    assert blocks_writes(await rest.post(conversation))


@pytest.mark.parametrize("change", ["has_app", "has_blocked", "account_enabled"])
async def test_a_person_who_removed_or_blocked_the_bot_gets_nothing(
    rest: Rest, sandbox: Sandbox, change: str
):
    chat = (await rest.call("POST", "conversations", chat_with(ids.BOB))).json()["id"]
    setattr(sandbox.workspace.users[ids.BOB], change, change == "has_blocked")
    assert blocks_writes(await rest.post(chat))


async def test_text_and_a_card_in_one_activity_become_two_messages_and_no_id(
    rest: Rest, sandbox: Sandbox
):
    answer = await rest.post(ids.OPS, {**card_activity(), "text": "and text"})
    assert (answer.status_code, answer.content) == (202, b"")
    assert len(sandbox.workspace.conversations[ids.OPS].messages) == 2


@pytest.mark.parametrize(
    ("activity", "expected"),
    [
        ({"type": "message"}, (400, "BadSyntax")),
        ({"type": "message", "text": "x", "colour": "red"}, (400, "BadSyntax")),
        ({"type": "event", "text": "x"}, (400, "BadSyntax")),
        ({"type": "message", "text": "x" * 60_000}, (413, "MessageSizeTooBig")),
        ({"type": "message", "attachments": [{"contentType": "image/png"}]}, (400, "BadSyntax")),
        (
            {"type": "message", "attachments": [{**CARD_ATTACHMENT, "content": {"type": "Card"}}]},
            (400, "BadSyntax"),
        ),
        (
            {
                "type": "message",
                "text": "x",
                "entities": [{"type": "mention", "text": "<at>A</at>"}],
            },
            (400, "BadSyntax"),
        ),
    ],
)
async def test_what_teams_does_not_take_is_refused_and_nothing_is_posted(
    rest: Rest, sandbox: Sandbox, activity: dict[str, object], expected: tuple[int, str]
):
    assert code_of(await rest.post(ids.OPS, activity)) == expected
    assert not sandbox.workspace.conversations[ids.OPS].messages


async def test_a_group_chat_can_not_be_created(rest: Rest):
    body = chat_with(ids.ALICE, isGroup=True)
    assert code_of(await rest.call("POST", "conversations", body)) == (400, "BadSyntax")


async def test_a_conversation_of_another_bot_can_not_be_created(rest: Rest):
    body = chat_with(ids.ALICE, bot={"id": f"28:{ids.NOAPP}"})
    assert code_of(await rest.call("POST", "conversations", body)) == (401, "BotNotRegistered")


async def test_a_chat_in_another_tenant_can_not_be_created(rest: Rest):
    body = {**chat_with(ids.ALICE), "tenantId": ids.GLOBEX_TENANT}
    assert code_of(await rest.call("POST", "conversations", body)) == (400, "BadSyntax")


async def test_people_are_not_updated_or_deleted_by_the_bot(rest: Rest, sandbox: Sandbox):
    chat = sandbox.workspace.conversations[ids.GROUP_CHAT]
    message = sandbox.workspace.add_message(chat, ids.ALICE, "mine")
    assert code_of(await rest.delete(chat.id, message.id)) == (403, "NotEnoughPermissions")
