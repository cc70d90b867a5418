"""Teams' answers and what the bot makes of them; which conversations it knows, and with which members; lost
posts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from bot.card import build_card
from bot.channels.contract import (
    LookupFailed,
    MessageGone,
    NotFound,
    NotSent,
    RateLimited,
    Undeliverable,
    Unreachable,
)
from bot.channels.teams import Credentials, TeamsChannel
from bot.channels.teams.transport import references, sdk, team_channels
from bot.health import Health
from bot.teams_names import CHANNEL, PREFIX
from hitl_core.errors import SettingsError, StoreUnavailable
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import Conversation, ids
from tests.channels.scenes import DEFAULT, THREE, review_of
from tests.support.teams.local import credentials, install_everywhere, installation, make_channel

REVIEW = review_of(*THREE)
CARD = build_card(REVIEW, DEFAULT)
ROOM, CHAT = Place(f"teams:{ids.APPROVALS}"), Place(f"teams:{ids.GROUP_CHAT}")
ALICE = Place(f"teams:{ids.ALICE}")


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def channel(sandbox: Sandbox, store: MemoryStore) -> AsyncIterator[TeamsChannel]:
    channel = make_channel(sandbox, store)
    await install_everywhere(sandbox, channel)
    await channel.start()
    yield channel
    await channel.close()


def activities(sandbox: Sandbox) -> list[Any]:
    """The bodies of all messages that were sent."""
    calls = sandbox.connector.calls
    return [one["body"] for one in calls if one["operation"] in ("post", "update")]


def count(sandbox: Sandbox, operation: str) -> int:
    return len([one for one in sandbox.connector.calls if one["operation"] == operation])


def error(code: str) -> str:
    return json.dumps({"error": {"code": code, "message": "?"}})


async def test_text_and_a_card_are_never_in_one_activity(sandbox: Sandbox, channel: TeamsChannel):
    """Teams would split it into two messages, and would not say their ids."""
    ref = await channel.post(ROOM, CARD)
    await channel.post_plain(ROOM, CARD)
    await channel.update(ROOM, ref, CARD)
    for one in activities(sandbox):
        assert "text" not in one
        assert len(one["attachments"]) == 1
        assert one["summary"]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "Bad Argument", Undeliverable),
        (401, "Unauthorized", NotSent),
        (401, "BotNotRegistered", NotSent),
        (403, "BotDisabledByAdmin", NotSent),
        (403, "BotNotInConversationRoster", NotFound),
        (403, "ConversationBlockedByUser", NotFound),
        (403, "ForbiddenOperationException", NotFound),
        (403, "InvalidBotApiHost", NotSent),
        (403, "NotEnoughPermissions", Undeliverable),
        (404, "ConversationNotFound", NotFound),
        (404, "ActivityNotFoundInConversation", MessageGone),
        (404, "", Undeliverable),
        (400, "BadSyntax", Undeliverable),
        (400, "ConversationNotFound", Undeliverable),
        (408, "", Unreachable),
        (412, "PreconditionFailed", NotSent),
        (413, "MessageSizeTooBig", Undeliverable),
        (400, "ConversationBlockedByUser", Undeliverable),
        (500, "ServiceError", Unreachable),
        (502, "ServiceError", Unreachable),
        (503, "", Unreachable),
        (504, "", Unreachable),
    ],
)
async def test_an_error_proves_no_more_than_teams_documents(
    sandbox: Sandbox, channel: TeamsChannel, status: int, code: str, kind: type[Exception]
):
    """Given an answer to a post; then only documented codes with their status say that nothing can be posted
    there, or that a message is gone."""
    sandbox.faults.add("answer", "post", status=status, body=error(code) if code else "")
    with pytest.raises(kind) as raised:
        await channel.post(ROOM, CARD)
    assert type(raised.value) is kind
    assert ids.APPROVALS not in str(raised.value)


async def test_a_person_who_blocked_the_app_is_not_found(sandbox: Sandbox, channel: TeamsChannel):
    sandbox.workspace.users[ids.ALICE].has_blocked = True
    with pytest.raises(NotFound, match="blocked"):
        await channel.post(ALICE, CARD)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ConversationBlockedByUser", NotFound),
        ("ForbiddenOperationException", NotFound),
        ("NotEnoughPermissions", LookupFailed),
        ("BotDisabledByAdmin", NotSent),
    ],
)
async def test_a_chat_that_can_not_be_opened_is_not_found_only_if_teams_says_so(
    sandbox: Sandbox, channel: TeamsChannel, code: str, kind: type[Exception]
):
    sandbox.faults.add("answer", "create", status=403, body=error(code))
    with pytest.raises(kind):
        await channel.conversation_id(ALICE)


async def test_an_archived_channel_is_not_found(sandbox: Sandbox, channel: TeamsChannel):
    """No look-up says it, only a post."""
    archived = Place(f"teams:{ids.ARCHIVED}")
    await channel.check_place(archived)
    with pytest.raises(NotFound, match="archived"):
        await channel.post(archived, CARD)


@pytest.mark.parametrize(
    ("given", "least", "most"),
    [(5, 5, 6), (100_000, 90, 120), (0, 1, 1.2)],
)
async def test_retry_after_is_kept_with_some_jitter(
    sandbox: Sandbox, channel: TeamsChannel, given: Any, least: float, most: float
):
    sandbox.faults.add("limited", "post", retry_after=given)
    with pytest.raises(RateLimited) as limited:
        await channel.post(ROOM, CARD)
    assert least <= limited.value.pause() <= most


@pytest.mark.parametrize("given", [None, "soon", "nan"])
async def test_a_limit_without_a_time_says_so(sandbox: Sandbox, channel: TeamsChannel, given: Any):
    """The Connector answers 429 without Retry-After."""
    sandbox.faults.add("limited", "post", retry_after=given)
    with pytest.raises(RateLimited) as limited:
        await channel.post(ROOM, CARD)
    assert limited.value.seconds is None


@pytest.mark.parametrize("mode", ["no_id", "conflict", "late", "hang"])
async def test_a_post_without_an_id_may_have_succeeded(
    sandbox: Sandbox, store: MemoryStore, mode: Any
):
    """Given an answer without an id, or none in time; then it is not known whether it was posted."""
    channel = TeamsChannel(
        credentials(sandbox), store, Health(), cloud_url=sandbox.url, timeout=0.5
    )
    await channel.start()
    sandbox.faults.add(mode, "post")
    with pytest.raises(Unreachable):
        await channel.post(ROOM, CARD)
    await channel.close()


async def test_a_refused_token_is_replaced(sandbox: Sandbox, channel: TeamsChannel):
    """Given a token that Teams refuses once, then the next call takes another one."""
    tokens = dict(sandbox.login.tokens)
    sandbox.faults.add("answer", "post", times=1, status=401, body=error("Unauthorized"))
    with pytest.raises(Unreachable):
        await channel.post(ROOM, CARD)
    await channel.post(ROOM, CARD)
    taken = {scope: n - tokens.get(scope, 0) for scope, n in sandbox.login.tokens.items()}
    assert taken == {"https://api.botframework.com": 1}


async def test_one_token_is_taken_for_all_calls(sandbox: Sandbox, channel: TeamsChannel):
    await asyncio.gather(*(channel.person(ids.ALICE) for _ in range(10)))
    assert sandbox.login.tokens["https://graph.microsoft.com"] == 1


async def test_a_wrong_secret_ends_the_start_and_is_not_shown(sandbox: Sandbox, store: MemoryStore):
    channel = TeamsChannel(
        credentials(sandbox, "wr0ng-secret"), store, Health(), cloud_url=sandbox.url
    )
    with pytest.raises(SettingsError, match="TEAMS_CLIENT_SECRET") as raised:
        await channel.start()
    assert "wr0ng" not in str(raised.value)
    await channel.close()


async def test_a_default_without_the_app_is_a_warning(
    sandbox: Sandbox, store: MemoryStore, caplog: pytest.LogCaptureFixture
):
    """The bot learns where the app was added only while it runs."""
    channel = make_channel(sandbox, store, ids.NO_BOT)
    await channel.start()
    assert "the app is not installed there" in caplog.text
    await channel.close()


async def test_a_default_that_cannot_be_looked_up_ends_the_start(
    sandbox: Sandbox, store: MemoryStore
):
    sandbox.faults.add("down", "pagedmembers")
    channel = make_channel(sandbox, store, ids.APPROVALS)
    with pytest.raises(SettingsError, match="HITL_CHANNEL is teams:"):
        await channel.start()
    await channel.close()


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("19:0a1b2c3d4e5f60718293a4b5c6d7e8f9@thread.v2", "a group chat (0a1b2c3d4e5f…)"),
        ("19:meeting_MjdhNjM4YzUtYzExZi0@thread.v2", "a group chat (meeting_Mjdh…)"),
        ("19:0a1b2c3d4e5f60718293a4b5c6d7e8f9@thread.tacv2", "a channel (0a1b2c3d4e5f…)"),
        ("a:1pL6abcdefghijklmn", "a chat (1pL6abcdefgh…)"),
        ("Approvals of May", "Approvals of May"),
    ],
)
async def test_a_conversation_whose_name_is_not_known_is_more_than_an_id(
    channel: TeamsChannel, target: str, name: str
):
    """People read it in "Only members of … may decide this"."""
    assert channel.name_of(Place(f"teams:{target}")) == name


async def test_an_empty_list_of_members_is_not_nobody(sandbox: Sandbox, channel: TeamsChannel):
    """Given a conversation of which Teams lists no member; then it is not known who is in it, how many they
    are, and whether it can be used: otherwise its cards would be passed on to other people."""
    sandbox.faults.add("answer", "pagedmembers", status=200, body=json.dumps({"members": []}))
    for look_up in (
        channel.conversation_members(ids.APPROVALS),
        channel.conversation_size(ROOM),
        channel.check_place(ROOM),
    ):
        with pytest.raises(LookupFailed, match="an empty list"):
            await look_up


@pytest.mark.parametrize("identity", ["system", "CL1ENT", "another"])
async def test_a_managed_identity_that_is_not_there_is_unreachable(
    sandbox: Sandbox, store: MemoryStore, monkeypatch: pytest.MonkeyPatch, identity: str
):
    """Given a machine without a managed identity; then the start says that there is no token."""

    def refuse(*given: Any) -> Callable[[str], Any]:
        async def fetch(scope: str) -> str:
            raise OSError(f"no identity for {scope}")

        return fetch

    real = sdk.managed_identity("cl1ent", sandbox.workspace.tenant_id, identity)
    assert callable(real)  # the SDK takes these credentials
    monkeypatch.setattr("bot.channels.teams.transport.tokens.managed_identity", refuse)
    given = Credentials("cl1ent", sandbox.workspace.tenant_id, managed_identity=identity)
    channel = TeamsChannel(given, store, Health(), cloud_url=sandbox.url)
    with pytest.raises(SettingsError, match="managed identity"):
        await channel.start()
    await channel.close()


async def test_our_token_does_not_follow_a_page_elsewhere(sandbox: Sandbox, channel: TeamsChannel):
    """Given a list of Graph's whose next page is at another host; then the look-up fails."""
    page = {"value": [], "@odata.nextLink": "https://evil.example/v1.0/next"}
    sandbox.faults.add("answer", "graph_members", status=200, body=json.dumps(page))
    with pytest.raises(LookupFailed, match="can't be read"):
        await channel.group_members(ids.OPS_GROUP)


async def test_a_list_of_which_a_later_page_fails_is_one_problem_that_lasts(
    sandbox: Sandbox, store: MemoryStore
):
    """Given a list whose first page can be read each time, and never its end; then it is the same problem at
    each try, so that it is told after a minute.
    """
    now = 0.0
    health = Health(lambda: now)
    channel = TeamsChannel(credentials(sandbox), store, health, cloud_url=sandbox.url)
    await install_everywhere(sandbox, channel)
    await channel.start()
    page = {"value": [], "@odata.nextLink": f"{sandbox.url}/v1.0/groups/{ids.OPS_GROUP}/more"}
    for moment in (1000.0, 1050.0, 1100.0):
        now = moment
        sandbox.faults.add("answer", "graph_members", times=1, status=200, body=json.dumps(page))
        with pytest.raises(LookupFailed):
            await channel.group_members(ids.OPS_GROUP)

    [problem] = health.current_problems()
    assert (problem.since, problem.count) == (1000.0, 3)

    await channel.group_members(ids.OPS_GROUP)
    assert health.current_problems() == ()
    await channel.close()


# ------------------------------------------------------------------ where the app is installed


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
    assert second.references.service_url(ids.OPS) == sandbox.service_url

    await first.record(installation(sandbox, _channel_of(sandbox, ids.ESCALATIONS)))
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
    update = installation(sandbox, _channel_of(sandbox, ids.OPS))
    await channel.record(update)
    assert writes == []
    await channel.record(update.model_copy(update={"service_url": f"{sandbox.url}/elsewhere/"}))
    assert writes == [f"conversation:{ids.OPS}"]
    assert channel.references.service_url(ids.OPS) == f"{sandbox.url}/elsewhere/"


async def test_names_that_cannot_be_loaded_are_not_asked_for_with_each_card(
    sandbox: Sandbox, channel: TeamsChannel, monkeypatch: pytest.MonkeyPatch
):
    """Given names that are too old and a Teams that fails; when many cards are shown, then they are posted
    with the known names, and Teams is asked once in a while."""
    monkeypatch.setattr(team_channels, "_MAX_AGE", 0.0)
    monkeypatch.setattr(team_channels, "_RETRY_AFTER", 3600.0)
    before, teams = count(sandbox, "team"), len(channel.references.teams())
    sandbox.faults.add("answer", "team", status=500)
    refs = await asyncio.gather(*(channel.post(ROOM, CARD) for _ in range(3)))
    await asyncio.gather(*(channel.update(ROOM, ref, CARD) for ref in refs))
    await channel.team_channels.all()
    assert count(sandbox, "team") == before + teams
    sandbox.faults.clear()
    monkeypatch.setattr(team_channels, "_RETRY_AFTER", 0.0)
    await channel.team_channels.all()
    assert count(sandbox, "team") > before + teams


async def test_a_team_that_fails_stops_no_other(sandbox: Sandbox, store: MemoryStore):
    """Given a team about which Teams refuses to answer, from the start on; then a name that is known leads
    there, people have a Home, and cards are posted."""
    sandbox.faults.add(
        "answer", "team", conversation=ids.OPS, status=403, body=error("TeamIsSoftDeleted")
    )
    channel = make_channel(sandbox, store)
    await install_everywhere(sandbox, channel)
    await channel.references.pin("Audit", ids.AUDIT)
    await channel.start()
    assert await channel.conversation_id(Place("teams:Audit")) == ids.AUDIT
    assert await channel.conversation_id(Place(f"teams:{ids.AUDIT}")) == ids.AUDIT
    assert f"place:teams:{ids.AUDIT}" in await channel.audiences(ids.ALICE)
    await channel.post(ROOM, CARD)
    with pytest.raises(LookupFailed):  # it may have this channel
        await channel.team_channels.find("19:unknown@thread.tacv2")
    await channel.close()


async def test_a_team_of_which_nothing_is_known_may_have_each_name(
    sandbox: Sandbox, store: MemoryStore
):
    """Given a team that Teams refuses to tell about, from the start on, and a channel of another team that
    has its name; then the name leads nowhere, is not kept, and operators read which team; when Teams tells
    again, then it is ambiguous or leads to the team that was meant."""
    _channel_of(sandbox, ids.AUDIT).name = "Operations"
    sandbox.faults.add("answer", "team", conversation=ids.OPS, status=403, body=error("Forbidden"))
    health = Health()
    channel = TeamsChannel(credentials(sandbox), store, health, cloud_url=sandbox.url)
    await install_everywhere(sandbox, channel)
    await channel.start()
    for name in ("Operations", "Nothing"):  # also: it may be that team's
        with pytest.raises(LookupFailed, match=f"{ids.OPS} may have the name"):
            await channel.conversation_id(Place(f"teams:{name}"))
    assert channel.references.pinned("Operations") is None
    assert any(ids.OPS in each.text for each in health.current_problems())
    await channel.close()

    sandbox.faults.clear()
    fresh = make_channel(sandbox, store)
    await fresh.start()
    with pytest.raises(NotFound, match="both called"):
        await fresh.conversation_id(Place("teams:Operations"))
    _channel_of(sandbox, ids.AUDIT).name = "Audit"
    fresh.team_channels.expire()
    assert await fresh.conversation_id(Place("teams:Operations")) == ids.OPS
    await fresh.close()


async def test_a_team_that_was_known_counts_with_its_names(sandbox: Sandbox, channel: TeamsChannel):
    """Given a team that Teams refuses to tell about since; then names of other teams lead there."""
    await channel.team_channels.all()
    sandbox.faults.add("answer", "team", conversation=ids.OPS, status=403, body=error("Forbidden"))
    channel.team_channels.expire()
    assert await channel.conversation_id(Place("teams:Audit")) == ids.AUDIT
    assert await channel.conversation_id(Place("teams:Operations")) == ids.OPS


async def test_during_an_outage_no_new_name_is_taken(sandbox: Sandbox, channel: TeamsChannel):
    """Given a team that can't be looked up at the moment: it may have a channel of this name too."""
    sandbox.faults.add("down", "team", conversation=ids.OPS)
    with pytest.raises(Unreachable):
        await channel.conversation_id(Place("teams:Audit"))


async def test_no_card_waits_for_the_names_of_a_team(
    sandbox: Sandbox, channel: TeamsChannel, monkeypatch: pytest.MonkeyPatch
):
    """Given a Teams that gives no answer about one team; then cards elsewhere are posted meanwhile."""
    monkeypatch.setattr(team_channels, "_MAX_AGE", 0.0)
    sandbox.faults.add("hang", "team", conversation=ids.OPS)
    for _ in range(3):
        await channel.post(ROOM, CARD)
    refreshing = channel.team_channels._refreshing
    assert refreshing is not None
    assert not refreshing.done()


async def test_a_name_is_looked_up_afresh_before_it_is_kept(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given two channels that changed their names a moment ago; then the name leads to the channel that has
    it now."""
    await channel.post(ROOM, CARD)
    _channel_of(sandbox, ids.AUDIT).name = "Audit (old)"
    _channel_of(sandbox, ids.ESCALATIONS).name = "Audit"
    assert await channel.conversation_id(Place("teams:Audit")) == ids.ESCALATIONS


async def test_nobody_takes_a_place_over_by_taking_its_name(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    """Finding C1 of security. Given a name that led to a team; when another team takes the name, and the
    first one has another now, then the name leads where it led, for a new bot too."""
    place = Place("teams:Operations")
    assert await channel.conversation_id(place) == ids.OPS
    for id, name in ((ids.OPS, "Old operations"), (ids.APPROVALS, "Operations")):
        team = sandbox.workspace.team(id)
        assert team is not None
        team.name = name
    fresh = make_channel(sandbox, store)
    await fresh.start()
    for one in (channel, fresh):
        assert await one.conversation_id(place) == ids.OPS
    assert fresh.name_of(place) == "Old operations"
    await fresh.close()


async def test_a_name_that_was_forgotten_is_looked_up_again(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel, monkeypatch: pytest.MonkeyPatch
):
    """Given a name that leads to a channel that is gone; when an operator forgets it, then it leads to the
    channel that has the name now."""
    monkeypatch.setattr(references, "MAX_AGE", 0.0)
    monkeypatch.setattr(team_channels, "_MAX_AGE", 0.0)
    place = Place("teams:Operations")
    assert await channel.conversation_id(place) == ids.OPS
    for id, name in ((ids.OPS, "Old operations"), (ids.APPROVALS, "Operations")):
        team = sandbox.workspace.team(id)
        assert team is not None
        team.name = name
    await store.drop_channel_value(CHANNEL, f"{PREFIX}Operations")
    assert await channel.conversation_id(place) == ids.APPROVALS


async def test_a_personal_chat_is_created_when_it_is_needed_and_once(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    first = await channel.conversation_id(ALICE)
    again = await channel.conversation_id(Place(f"teams:{ids.ALICE.upper()}"))
    assert first == again == sandbox.workspace.open_personal_chat(_alice(sandbox)).id
    fresh = make_channel(sandbox, store)
    await fresh.start()
    assert await fresh.conversation_id(ALICE) == first
    assert count(sandbox, "create") == 1
    await fresh.close()


async def test_all_members_of_a_large_team_are_read_and_not_all_counted(
    sandbox: Sandbox, channel: TeamsChannel
):
    team = sandbox.workspace.team(ids.EVERYONE_TEAM)
    assert team is not None
    assert await channel.conversation_members(ids.EVERYONE_TEAM) == {*team.members}
    assert await channel.conversation_size(Place(f"teams:{ids.EVERYONE_TEAM}")) > 1000


# ------------------------------------------------------------------ threads, chats, lost posts


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


@pytest.mark.parametrize("place", [ROOM, ALICE])
async def test_promise_4_without_the_permission_a_lost_post_is_unknown(
    sandbox: Sandbox, channel: TeamsChannel, place: Place
):
    """Given an administrator who did not let the app read messages; then the search for a lost post fails,
    and says which permission is missing: it does not say that there is none."""
    sandbox.app.permissions -= {"ChannelMessage.Read.Group", "ChatMessage.Read.Chat"}
    with pytest.raises(LookupFailed, match=r"must grant the app Ch\w+Message\.Read\.\w+"):
        await channel.find_messages(place, CARD.review_id, sandbox.workspace.now())


async def test_promise_4_a_lost_post_in_a_personal_chat_is_found(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given a post to a person whose answer is lost; then it is found, and can be updated."""
    await channel.conversation_id(ALICE)
    sandbox.faults.add("lost", "post", times=1)
    since = sandbox.workspace.now()
    with pytest.raises(Unreachable):
        await channel.post(ALICE, CARD)
    [ref] = await channel.find_messages(ALICE, CARD.review_id, since)
    await channel.update(ALICE, ref, CARD)
    assert await channel.find_messages(ALICE, CARD.review_id, since) == [ref]


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


def _channel_of(sandbox: Sandbox, id: str) -> Conversation:
    return sandbox.workspace.conversations[id]


def _alice(sandbox: Sandbox) -> Any:
    return sandbox.workspace.users[ids.ALICE]


async def test_a_removal_counts_though_another_bot_heard_of_the_install(
    sandbox: Sandbox, store: MemoryStore
):
    """Given a bot that started before the app was added; when it hears of the removal, then no bot knows
    the place any more."""
    early, late = make_channel(sandbox, store), make_channel(sandbox, store)
    await early.references.refresh()
    await late.record(installation(sandbox, _channel_of(sandbox, ids.OPS)))
    await early.forget(ids.OPS)
    assert not await store.channel_values("teams")
    await early.close()
    await late.close()


async def test_a_name_in_a_team_of_which_another_bot_heard_is_found_at_once(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    """Given a bot that heard that the app was removed from a team; when another one hears that it was added
    again, then the first one finds the team's channels, and sends nothing to a fallback."""
    other = make_channel(sandbox, store)
    await channel.forget(ids.OPS)
    with pytest.raises(NotFound):
        await channel.conversation_id(Place("teams:Escalations"))
    await other.record(installation(sandbox, _channel_of(sandbox, ids.OPS)))
    assert await channel.conversation_id(Place("teams:Escalations")) == ids.ESCALATIONS
    await other.close()


@pytest.fixture
async def early(sandbox: Sandbox) -> AsyncIterator[tuple[TeamsChannel, StoreWithOutages]]:
    """A bot that started when the app was nowhere. Only another bot received the installations."""
    store = StoreWithOutages()
    early, other = make_channel(sandbox, store), make_channel(sandbox, store)
    await early.start()
    await install_everywhere(sandbox, other)
    yield early, store
    for one in (early, other):
        await one.close()


class StoreWithOutages(MemoryStore):
    is_away = False

    async def channel_values(self, channel: str) -> dict[str, bytes]:
        if self.is_away:
            raise StoreUnavailable("Redis can't be reached.")
        return await super().channel_values(channel)


async def test_promise_4_a_bot_that_started_before_the_installation_finds_its_post(
    sandbox: Sandbox, early: tuple[TeamsChannel, StoreWithOutages]
):
    """The bot took the channel's team for unknown, so the card was posted again."""
    channel, _ = early
    since = sandbox.workspace.now()
    ref = await channel.post(ROOM, CARD)
    found = await channel.find_messages(ROOM, CARD.review_id, since)
    assert [one.key for one in found] == [ref.key]


async def test_a_channel_that_only_the_store_may_know_is_unknown_during_an_outage(
    early: tuple[TeamsChannel, StoreWithOutages],
):
    """By its name or its id: with a "no" the card would go to the fallback, or be posted again."""
    channel, store = early
    store.is_away = True
    with pytest.raises(Unreachable):
        await channel.conversation_id(Place("teams:Finance"))
    with pytest.raises(Unreachable):
        await channel.find_messages(ROOM, CARD.review_id, 0.0)
