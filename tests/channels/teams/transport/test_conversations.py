"""Which conversations the bot knows, and who is in them."""

from __future__ import annotations

import httpx
import pytest

from bot.card import build_card
from bot.channels.contract import NotFound, NotSent
from bot.channels.teams import TeamsChannel
from bot.channels.teams.places import Address
from bot.channels.teams.transport import Reference, references
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import Conversation, ids
from tests.channels.scenes import DEFAULT, THREE, review_of
from tests.channels.teams.transport.calls import (
    ALICE,
    CARD,
    CHAT,
    ROOM,
    channel_of,
    count,
    error,
)
from tests.support.teams.local import installation, make_channel


async def test_a_new_process_knows_the_conversations(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    """Given a bot that was told of installations; then one that starts later knows them, by name too."""
    fresh = make_channel(sandbox, store, "Operations")
    await fresh.start()
    assert await fresh.conversation_id(Place("default")) == ids.OPS
    assert fresh.name_of(Place("teams:Operations")) == "Operations"
    assert fresh.name_of(Place(f"teams:{ids.AUDIT}")) == "Agent approvals > Audit"
    await fresh.close()


async def test_another_process_sees_a_change_within_a_minute(
    sandbox: Sandbox, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
):
    """Given two bots; when one is told of an installation, then the other knows the place; and when it is
    told of the removal, then the other does not know it any more."""
    assert references.MAX_AGE <= 60
    monkeypatch.setattr(references, "MAX_AGE", 0.0)
    first, second = make_channel(sandbox, store), make_channel(sandbox, store)
    await second.start()
    team = sandbox.workspace.conversations[ids.OPS]
    chat = sandbox.workspace.conversations[ids.GROUP_CHAT]
    for one in (team, chat):
        await first.record(installation(sandbox, one))
    await second.references.refresh()
    assert {one.id for one in second.references.all()} == {ids.OPS, ids.GROUP_CHAT}
    assert second.references.service_url(Address(ids.OPS)) == sandbox.service_url

    await first.record(installation(sandbox, channel_of(sandbox, ids.ESCALATIONS)))
    await first.forget(f"{ids.OPS};messageid=17")
    await second.references.refresh()
    assert [one.id for one in second.references.all()] == [ids.GROUP_CHAT]
    await first.close()
    await second.close()


async def test_an_activity_that_changes_nothing_writes_nothing(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel, monkeypatch: pytest.MonkeyPatch
):
    """Each click brings one: it must cost nothing. A new address is stored."""
    writes: list[str] = []
    real = store.save_channel_value

    async def save(of: str, name: str, data: bytes) -> None:
        writes.append(name)
        await real(of, name, data)

    monkeypatch.setattr(store, "save_channel_value", save)
    update = installation(sandbox, channel_of(sandbox, ids.OPS))
    await channel.record(update)
    assert writes == []
    await channel.record(update.model_copy(update={"service_url": f"{sandbox.url}/elsewhere/"}))
    assert writes == [f"conversation:{ids.OPS}"]
    assert channel.references.service_url(Address(ids.OPS)) == f"{sandbox.url}/elsewhere/"


async def test_a_personal_chat_is_created_when_it_is_needed_and_once(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    first = await channel.conversation_id(ALICE)
    again = await channel.conversation_id(Place(f"teams:{ids.ALICE.upper()}"))
    assert (
        first
        == again
        == sandbox.workspace.open_personal_chat(sandbox.workspace.users[ids.ALICE]).id
    )
    fresh = make_channel(sandbox, store)
    await fresh.start()
    assert await fresh.conversation_id(ALICE) == first
    assert count(sandbox, "create") == 1
    await fresh.close()


async def test_a_chat_that_the_app_can_not_use_any_more_is_opened_anew(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    """Given the chat of a former registration of the bot; then a card for the person waits, and goes to the
    chat of today: it doesn't go to a fallback, as if the person had not installed the app."""
    await channel.references.add(FORMER_CHAT)
    with pytest.raises(NotSent):
        await channel.post(ALICE, CARD)
    ref = await channel.post(ALICE, CARD)
    assert ref.conversation == chat_of_alice(sandbox).id
    assert f"conversation:{FORMER_CHAT.id}" not in await store.channel_values("teams")


async def test_a_chat_that_can_not_be_opened_anew_is_not_found(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given a chat of which Teams says that there is none, and the same chat each time that it is opened."""
    body = error("ConversationNotFound")
    sandbox.faults.add("answer", "post", status=404, body=body)
    for _ in range(2):
        with pytest.raises(NotFound):
            await channel.post(ALICE, CARD)


async def test_the_chat_from_which_a_person_writes_is_theirs(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given the chat of a former registration of the bot; when the person writes in the chat of today, then
    the bot writes there too."""
    await channel.references.add(FORMER_CHAT)
    await channel.record(installation(sandbox, chat_of_alice(sandbox)))
    assert (await channel.post(ALICE, CARD)).conversation == chat_of_alice(sandbox).id


async def test_all_members_of_a_large_team_are_read_and_not_all_counted(
    sandbox: Sandbox, channel: TeamsChannel
):
    team = sandbox.workspace.team(ids.EVERYONE_TEAM)
    assert team is not None
    assert await channel.conversation_members(ids.EVERYONE_TEAM) == {*team.members}
    assert await channel.conversation_size(Place(f"teams:{ids.EVERYONE_TEAM}")) > 1000


async def test_a_thread_of_a_channel(sandbox: Sandbox, channel: TeamsChannel):
    """Given a place that is a thread; then the card is a reply in it, and is found there and nowhere else."""
    root = await channel.post(ROOM, build_card(review_of(*THREE, agent="other"), DEFAULT))
    place, since = Place(f"{ROOM}/{root.ts}"), sandbox.workspace.now()
    ref = await channel.post(place, CARD)
    messages = sandbox.workspace.conversations[ids.APPROVALS].messages
    assert messages[ref.ts].root == root.ts
    assert await channel.find_messages(place, CARD.review_id, since) == [ref]
    assert await channel.find_messages(ROOM, CARD.review_id, since) == []
    await channel.update(place, ref, CARD)
    assert await channel.find_messages(place, CARD.review_id, since) == [ref]


async def test_a_group_chat(sandbox: Sandbox, channel: TeamsChannel):
    """Given a chat, which has no threads; then a card is found there, and it has members."""
    since = sandbox.workspace.now()
    ref = await channel.post(CHAT, CARD)
    assert await channel.find_messages(CHAT, CARD.review_id, since) == [ref]
    assert await channel.conversation_members(ids.GROUP_CHAT) == {ids.ALICE, ids.BOB, ids.DANA}
    assert f"place:{CHAT}" in await channel.audiences(ids.DANA)
    assert f"place:{CHAT}" not in await channel.audiences(ids.CARL)


async def test_the_links_of_messages(sandbox: Sandbox, channel: TeamsChannel):
    """Given messages in a channel, a chat and a personal chat; then the first two have a link."""
    refs = [await channel.post(place, CARD) for place in (ROOM, CHAT, ALICE)]
    in_channel, in_chat, in_person = map(channel.link, refs)
    assert in_channel is not None
    assert in_chat is not None
    assert httpx.URL(in_channel).params["groupId"] == ids.APPROVALS_GROUP
    assert httpx.URL(in_channel).params["parentMessageId"] == refs[0].ts
    assert httpx.URL(in_chat).params["context"] == '{"contextType":"chat"}'
    assert in_person is None


async def test_a_private_channel_with_the_app_is_like_any_other(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given the app in a private channel, which is in no list of its team's channels; then a list of what
    waits has its reviews for its members alone, and a lost post in it is found."""
    private, place = channel_of(sandbox, ids.PRIVATE), Place(f"teams:{ids.PRIVATE}")
    private.installed = True
    await channel.record(installation(sandbox, private))
    assert f"place:{place}" in await channel.audiences(ids.DANA)
    assert f"place:{place}" not in await channel.audiences(ids.BOB)
    since = sandbox.workspace.now()
    ref = await channel.post(place, CARD)
    assert [one.key for one in await channel.find_messages(place, CARD.review_id, since)] == [
        ref.key
    ]


FORMER_CHAT = Reference(id="a:former", kind="personal", service_url="", person=ids.ALICE)


def chat_of_alice(sandbox: Sandbox) -> Conversation:
    return sandbox.workspace.open_personal_chat(sandbox.workspace.users[ids.ALICE])
