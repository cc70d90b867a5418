"""Which activities the bot gets: messages, installs, and changes of teams and people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from teams_sandbox.client import Person, ScriptError
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import TENANT, ids
from tests.teams_sandbox.bots import PlainBot, running_bot
from tests.teams_sandbox.conftest import Rest, card_activity, code_of


@pytest.fixture
async def bot(sandbox: Sandbox) -> AsyncIterator[PlainBot]:
    async with running_bot() as running:
        sandbox.bot_url = running.url
        yield running


async def test_a_message_in_the_personal_chat_reaches_the_bot(sandbox: Sandbox, bot: PlainBot):
    alice = Person(sandbox, ids.ALICE)
    message = await alice.say("approvals")
    [activity] = bot.activities
    assert (activity["type"], activity["text"]) == ("message", "approvals")
    assert activity["conversation"] == {
        "id": alice.chat,
        "conversationType": "personal",
        "tenantId": TENANT,
    }
    assert (activity["id"], activity["channelData"]) == (message.id, {"tenant": {"id": TENANT}})


async def test_a_mention_in_a_channel_reaches_the_bot_with_its_thread(
    sandbox: Sandbox, bot: PlainBot
):
    alice = Person(sandbox, ids.ALICE)
    root = await alice.say("approvals", ids.APPROVALS, mention=True)
    await alice.say("again", ids.APPROVALS, mention=True, root=root.id)
    first, second = bot.activities
    assert first["text"] == "<at>Approvals</at> approvals"
    [mention] = [one for one in first["entities"] if one["type"] == "mention"]
    assert mention["mentioned"]["id"] == sandbox.app.mri == first["recipient"]["id"]
    thread = f"{ids.APPROVALS};messageid={root.id}"
    assert (first["conversation"]["id"], second["conversation"]["id"]) == (thread, thread)


@pytest.mark.parametrize(
    ("permission", "place"),
    [("ChannelMessage.Read.Group", ids.APPROVALS), ("ChatMessage.Read.Chat", ids.GROUP_CHAT)],
)
async def test_a_bot_that_may_read_messages_gets_those_without_a_mention_too(
    sandbox: Sandbox, bot: PlainBot, permission: str, place: str
):
    alice = Person(sandbox, ids.ALICE)
    await alice.say("lunch?", place)
    assert len(bot.activities) == 1
    sandbox.app.permissions.remove(permission)
    await alice.say("lunch?", place)
    assert len(bot.activities) == 1


async def test_nothing_comes_from_where_the_bot_is_not(sandbox: Sandbox, bot: PlainBot):
    alice = Person(sandbox, ids.ALICE)
    await alice.say("approvals", ids.NO_BOT, mention=True)
    assert not bot.activities
    with pytest.raises(ScriptError, match="sees no conversation"):
        await alice.say("x", ids.OPS)


async def test_an_install_in_a_team_names_the_team_and_its_group(sandbox: Sandbox, bot: PlainBot):
    await sandbox.installs.add(ids.NO_BOT_TEAM, by=ids.ALICE)
    install, update = bot.activities
    assert (install["type"], install["action"]) == ("installationUpdate", "add")
    assert install["channelData"]["team"] == {
        "id": ids.NO_BOT_TEAM,
        "name": "No bot",
        "aadGroupId": ids.NO_BOT_GROUP,
    }
    assert update["membersAdded"] == [{"id": sandbox.app.mri}]
    assert update["channelData"]["eventType"] == "teamMemberAdded"
    await sandbox.installs.remove(ids.NO_BOT_TEAM, by=ids.ALICE)
    assert [one.get("action") for one in bot.activities[2:]] == ["remove", None]


async def test_an_install_for_a_person_opens_a_chat(sandbox: Sandbox, bot: PlainBot):
    chat = await sandbox.installs.add_for(ids.NOAPP)
    assert {one["conversation"]["id"] for one in bot.activities} == {chat.id}
    assert bot.activities[0]["from"]["aadObjectId"] == ids.NOAPP
    await sandbox.installs.remove_for(ids.NOAPP)
    assert bot.activities[-1]["action"] == "remove"


async def test_all_places_of_the_bot_are_announced(sandbox: Sandbox, bot: PlainBot):
    await sandbox.installs.announce()
    told = {one["conversation"]["id"] for one in bot.activities}
    assert {ids.APPROVALS, ids.OPS, ids.GROUP_CHAT, Person(sandbox, ids.BOB).chat} <= told
    assert not {ids.NO_BOT, ids.NO_BOT_CHAT, ids.AUDIT} & told


async def test_changes_of_a_team_and_its_channels_are_told(sandbox: Sandbox, bot: PlainBot):
    teams, by = sandbox.teams, ids.ALICE
    await teams.rename_channel(ids.AUDIT, "Audit 2", by)
    await teams.rename_team(ids.APPROVALS_TEAM, "Approvals 2", by)
    await teams.create_channel(ids.APPROVALS_TEAM, "19:new@thread.tacv2", "New", by)
    await teams.delete_channel(ids.AUDIT, by)
    await teams.archive_team(ids.APPROVALS_TEAM, by)
    await teams.restore_team(ids.APPROVALS_TEAM, by)
    await teams.delete_team(ids.APPROVALS_TEAM, by)
    await teams.rename_team(ids.NO_BOT_TEAM, "Other", by)
    assert [one["channelData"]["eventType"] for one in bot.activities] == [
        *("channelRenamed", "teamRenamed", "channelCreated", "channelDeleted"),
        *("teamArchived", "teamUnarchived", "teamDeleted"),
    ]
    assert bot.activities[0]["channelData"]["channel"]["name"] == "Audit 2"
    assert bot.activities[1]["channelData"]["team"]["name"] == "Approvals 2"


async def test_people_who_come_and_go_are_told(sandbox: Sandbox, bot: PlainBot):
    await sandbox.teams.add_member(ids.APPROVALS_TEAM, ids.CARL, by=ids.ALICE)
    await sandbox.teams.remove_member(ids.GROUP_CHAT, ids.DANA, by=ids.ALICE)
    added, removed = bot.activities
    assert [one["aadObjectId"] for one in added["membersAdded"]] == [ids.CARL]
    assert [one["aadObjectId"] for one in removed["membersRemoved"]] == [ids.DANA]
    assert Person(sandbox, ids.CARL).messages(ids.APPROVALS) == []


async def test_a_test_may_send_any_activity_with_any_token(sandbox: Sandbox, bot: PlainBot):
    alice = sandbox.workspace.users[ids.ALICE]
    chat = sandbox.workspace.open_personal_chat(alice)
    activity = sandbox.activities.installation(alice, chat, "add")
    answer = await sandbox.bot_client.send(activity, token="wrong")
    assert answer is not None
    assert answer.status == 500, "this bot fails its own check of the token"
    assert sandbox.bot_client.deliveries[-1]["status"] == 500


async def test_a_person_waits_for_a_card_and_for_nothing_in_vain(sandbox: Sandbox, rest: Rest):
    alice = Person(sandbox, ids.ALICE)
    waiting = asyncio.create_task(alice.wait_for_card(ids.APPROVALS, "Refund"))
    await rest.post(ids.APPROVALS, card_activity("Another"))
    sent = (await rest.post(ids.APPROVALS, card_activity("Refund 7 EUR"))).json()["id"]
    assert (await waiting).id == sent
    with pytest.raises(TimeoutError, match="alice did not see it"):
        await alice.wait_for_card(ids.APPROVALS, "Never", timeout=0.01)


async def test_a_person_who_is_deleted_is_nowhere(sandbox: Sandbox, rest: Rest):
    sandbox.workspace.remove_user(ids.BOB)
    path = f"conversations/{ids.APPROVALS}/members"
    assert code_of(await rest.get(f"{path}/{ids.BOB}")) == (404, "MemberNotFoundInConversation")
    assert ids.BOB not in {one["objectId"] for one in (await rest.get(path)).json()}
    assert code_of(await rest.graph(f"users/{ids.BOB}")) == (404, "Request_ResourceNotFound")
    with pytest.raises(ScriptError, match="there is nobody"):
        Person(sandbox, ids.BOB)
