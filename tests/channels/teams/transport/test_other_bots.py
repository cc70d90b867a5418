"""What one bot concludes from its copy of data that another bot may have changed meanwhile: never a "no"."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from bot.channels.contract import NotFound, NotSent, Unreachable
from bot.channels.teams import TeamsChannel
from bot.channels.teams.places import Address
from hitl_core.errors import StoreUnavailable
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.channels.teams.transport.calls import ALICE, CARD, ROOM, channel_of
from tests.support.teams.local import install_everywhere, installation, make_channel

OPERATIONS = Place("teams:Operations")
MakeBot = Callable[..., TeamsChannel]


@pytest.fixture
async def make_bot(sandbox: Sandbox) -> AsyncIterator[MakeBot]:
    made: list[TeamsChannel] = []

    def make(store: MemoryStore | None = None) -> TeamsChannel:
        made.append(make_channel(sandbox, store or MemoryStore()))
        return made[-1]

    yield make
    for bot in made:
        await bot.close()


@pytest.fixture
async def bots(sandbox: Sandbox, make_bot: MakeBot) -> tuple[TeamsChannel, TeamsChannel]:
    """A bot that has loaded what the store had, and another one that gets Teams' activities."""
    store = MemoryStore()
    one, other = make_bot(store), make_bot(store)
    await install_everywhere(sandbox, other)
    for bot in (one, other):
        await bot.start()
    return one, other


@pytest.fixture
async def old_address() -> AsyncIterator[str]:
    """An address that serves no conversation any more."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"error": {"code": "ConversationNotFound"}}, status=404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/emea/"
    await runner.cleanup()


def rename(sandbox: Sandbox, id: str, name: str) -> None:
    team = sandbox.workspace.team(id)
    assert team is not None
    team.name = name


@pytest.mark.parametrize(
    ("team", "new_name"), [(ids.OPS, "Old operations"), (ids.APPROVALS, "Operations")]
)
async def test_a_name_that_another_bot_has_used_leads_where_it_led(
    sandbox: Sandbox, bots: tuple[TeamsChannel, TeamsChannel], team: str, new_name: str
):
    """Given a name that led to a team for another bot; when that team has another
    name, and nobody has the first one, or another team has taken it too; then it leads there for this bot
    too: its card doesn't go to a fallback, nor to the other team."""
    one, other = bots
    assert await other.conversation_id(OPERATIONS) == ids.OPS
    rename(sandbox, team, new_name)
    one.team_channels.expire(team)
    assert await one.conversation_id(OPERATIONS) == ids.OPS


async def test_a_name_that_went_to_a_team_of_which_only_another_bot_heard_is_found(
    sandbox: Sandbox, make_bot: MakeBot
):
    """Given a bot that knows a channel of a name; when a team in which the app was just added has the name
    in its place, and another bot heard of that, then the name leads there."""
    store = MemoryStore()
    one, other = make_bot(store), make_bot(store)
    await one.record(installation(sandbox, sandbox.workspace.conversations[ids.APPROVALS]))
    await one.start()
    await other.record(installation(sandbox, sandbox.workspace.conversations[ids.OPS]))
    name = sandbox.workspace.conversations[ids.AUDIT].name
    sandbox.workspace.conversations[ids.AUDIT].name = "Audit (old)"
    sandbox.workspace.conversations[ids.ESCALATIONS].name = name
    assert await one.conversation_id(Place(f"teams:{name}")) == ids.ESCALATIONS


async def test_a_conversation_that_moved_is_found_at_the_address_that_another_bot_heard(
    sandbox: Sandbox, bots: tuple[TeamsChannel, TeamsChannel], old_address: str
):
    """Given a bot with the old address of a conversation, where Teams says that there is none; then it asks
    at the new one, which another bot has recorded, before it says so."""
    one, other = bots
    activity = installation(sandbox, sandbox.workspace.conversations[ids.APPROVALS])
    await one.record(activity.model_copy(update={"service_url": old_address}))
    await other.record(activity)
    assert (await one.post(ROOM, CARD)).conversation == ids.APPROVALS


@pytest.mark.parametrize("ask", ["size", "member", "names"])
async def test_a_look_up_at_an_old_address_is_no_answer(
    sandbox: Sandbox, bots: tuple[TeamsChannel, TeamsChannel], old_address: str, ask: str
):
    one, other = bots
    activity = installation(sandbox, sandbox.workspace.conversations[ids.APPROVALS])
    await one.record(activity.model_copy(update={"service_url": old_address}))
    await other.record(activity)
    one.team_channels.expire(ids.APPROVALS)
    match ask:
        case "size":
            assert await one.conversation_size(ROOM) > 1
        case "member":
            assert await one.is_member(ids.APPROVALS, ids.ALICE)
        case _:
            assert await one.conversation_id(Place("teams:Agent approvals")) == ids.APPROVALS


async def test_a_channel_without_an_address_of_its_own_has_that_of_its_team(
    sandbox: Sandbox, make_bot: MakeBot, old_address: str
):
    """Given a team and a chat with different addresses; a channel of the team is asked for at the team's."""
    one = make_bot()
    chat = installation(sandbox, sandbox.workspace.conversations[ids.GROUP_CHAT])
    await one.record(chat.model_copy(update={"service_url": old_address}))
    await one.record(installation(sandbox, sandbox.workspace.conversations[ids.APPROVALS]))
    await one.start()
    assert (await one.post(Place(f"teams:{ids.AUDIT}"), CARD)).conversation == ids.AUDIT


async def test_a_message_is_updated_at_its_own_address(
    sandbox: Sandbox, make_bot: MakeBot, old_address: str
):
    """Given a conversation that is not known any more, and another one with another address; then a message
    is updated where it was posted."""
    one = make_bot()
    await install_everywhere(sandbox, one)
    await one.start()
    ref = await one.post(ROOM, CARD)
    for known in one.references.all():
        await one.forget(known.id)
    chat = installation(sandbox, sandbox.workspace.conversations[ids.GROUP_CHAT])
    await one.record(chat.model_copy(update={"service_url": old_address}))
    await one.update(ROOM, ref, CARD)


async def test_a_guess_replaces_no_address_that_teams_named(
    sandbox: Sandbox, bots: tuple[TeamsChannel, TeamsChannel]
):
    """Given a personal chat whose address another bot has from Teams; when this bot, which doesn't know of
    it, opens the chat, then the address stays."""
    one, other = bots
    chat = sandbox.workspace.open_personal_chat(sandbox.workspace.users[ids.ALICE])
    elsewhere = f"{sandbox.url}/elsewhere/"
    activity = installation(sandbox, chat)
    await other.record(activity.model_copy(update={"service_url": elsewhere}))
    assert await one.conversation_id(ALICE) == chat.id
    for bot in bots:
        await bot.references.refresh(now=True)
        assert bot.references.service_url(Address(chat.id)) == elsewhere


async def test_what_was_recorded_while_the_store_was_read_is_not_lost(
    sandbox: Sandbox, make_bot: MakeBot
):
    """Given a bot that reads the store; when an activity is recorded meanwhile, then it knows the place."""
    store = StoreThatWaits()
    one = make_bot(store)
    store.during_read = lambda: one.record(
        installation(sandbox, sandbox.workspace.conversations[ids.OPS])
    )
    await one.references.refresh(now=True)
    assert one.references.get(ids.OPS) is not None


class StoreThatWaits(MemoryStore):
    during_read: Callable[[], Awaitable[None]] | None = None

    async def channel_values(self, channel: str) -> dict[str, bytes]:
        values, during = await super().channel_values(channel), self.during_read
        if during is not None:
            self.during_read = None
            await during()
        return values


async def test_a_place_that_nobody_has_is_still_not_found(
    bots: tuple[TeamsChannel, TeamsChannel],
):
    with pytest.raises(NotFound, match="no team or channel"):
        await bots[0].conversation_id(Place("teams:Nowhere"))


async def test_a_post_is_not_sent_while_nobody_knows_another_address(
    sandbox: Sandbox, make_bot: MakeBot, old_address: str
):
    """Given the old address of a conversation, and a store that is away when the post is refused there; then
    it is not known that there is no such conversation, and nothing was posted that must be looked for."""
    store = StoreThatWaits()
    one = make_bot(store)
    activity = installation(sandbox, sandbox.workspace.conversations[ids.APPROVALS])
    await one.record(activity.model_copy(update={"service_url": old_address}))
    await one.start()

    async def fail() -> None:
        raise StoreUnavailable("Redis can't be reached.")

    store.during_read = fail
    with pytest.raises(NotSent):
        await one.post(ROOM, CARD)


async def test_a_removal_counts_though_another_bot_heard_of_the_install(
    sandbox: Sandbox, store: MemoryStore
):
    """Given a bot that started before the app was added; when it hears of the removal, then no bot knows
    the place any more."""
    early, late = make_channel(sandbox, store), make_channel(sandbox, store)
    await early.references.refresh()
    await late.record(installation(sandbox, channel_of(sandbox, ids.OPS)))
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
    await other.record(installation(sandbox, channel_of(sandbox, ids.OPS)))
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
