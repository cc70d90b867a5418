"""Where the names of teams and channels lead, and what people read as a conversation's name."""

from __future__ import annotations

import asyncio

import pytest

from bot.channels.contract import (
    LookupFailed,
    NotFound,
    Unreachable,
)
from bot.channels.pinned_names import PREFIX
from bot.channels.teams import TeamsChannel
from bot.channels.teams.transport import references, team_channels
from bot.health import Health
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.channels.teams.transport.calls import (
    CARD,
    ROOM,
    channel_of,
    count,
    error,
)
from tests.support.teams.local import credentials, install_everywhere, make_channel


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
        await channel.team_channels.find_team("19:unknown@thread.tacv2")
    await channel.close()


async def test_a_team_of_which_nothing_is_known_may_have_each_name(
    sandbox: Sandbox, store: MemoryStore
):
    """Given a team that Teams refuses to tell about, from the start on, and a channel of another team that
    has its name; then the name leads nowhere, is not kept, and operators read which team; when Teams tells
    again, then it is ambiguous or leads to the team that was meant."""
    channel_of(sandbox, ids.AUDIT).name = "Operations"
    sandbox.faults.add("answer", "team", conversation=ids.OPS, status=403, body=error("Forbidden"))
    health = Health()
    channel = TeamsChannel(credentials(sandbox), store, health, cloud_url=sandbox.url)
    await install_everywhere(sandbox, channel)
    await channel.start()
    for name in ("Operations", "Nothing"):  # also: it may be that team's
        with pytest.raises(LookupFailed, match=f"{ids.OPS} may have the name"):
            await channel.conversation_id(Place(f"teams:{name}"))
    assert channel.references.cached_pin("Operations") is None
    assert any(ids.OPS in each.text for each in health.current_problems())
    await channel.close()

    sandbox.faults.clear()
    fresh = make_channel(sandbox, store)
    await fresh.start()
    with pytest.raises(NotFound, match="both called"):
        await fresh.conversation_id(Place("teams:Operations"))
    channel_of(sandbox, ids.AUDIT).name = "Audit"
    fresh.team_channels.expire(ids.APPROVALS)
    assert await fresh.conversation_id(Place("teams:Operations")) == ids.OPS
    await fresh.close()


async def test_a_team_that_was_known_counts_with_its_names(sandbox: Sandbox, channel: TeamsChannel):
    """Given a team that Teams refuses to tell about since; then names of other teams lead there."""
    await channel.team_channels.all()
    sandbox.faults.add("answer", "team", conversation=ids.OPS, status=403, body=error("Forbidden"))
    channel.team_channels.expire(ids.OPS)
    assert await channel.conversation_id(Place("teams:Audit")) == ids.AUDIT
    assert await channel.conversation_id(Place("teams:Operations")) == ids.OPS


async def test_a_change_of_one_team_asks_about_no_other(sandbox: Sandbox, channel: TeamsChannel):
    """Teams sends an event for each member who comes or leaves, of each team."""
    await channel.team_channels.all()
    before = count(sandbox, "team")
    channel.team_channels.expire(ids.OPS)
    await channel.team_channels.all()
    assert count(sandbox, "team") == before + 1


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
    channel_of(sandbox, ids.AUDIT).name = "Audit (old)"
    channel_of(sandbox, ids.ESCALATIONS).name = "Audit"
    assert await channel.conversation_id(Place("teams:Audit")) == ids.ESCALATIONS


def move_name(sandbox: Sandbox) -> None:
    """The team `Operations` gets another name, and another team takes that one."""
    for id, name in ((ids.OPS, "Old operations"), (ids.APPROVALS, "Operations")):
        team = sandbox.workspace.team(id)
        assert team is not None
        team.name = name


async def test_nobody_takes_a_place_over_by_taking_its_name(
    sandbox: Sandbox, store: MemoryStore, channel: TeamsChannel
):
    """Given a name that led to a team; when another team takes the name, and the
    first one has another now, then the name leads where it led, for a new bot too."""
    place = Place("teams:Operations")
    assert await channel.conversation_id(place) == ids.OPS
    move_name(sandbox)
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
    move_name(sandbox)
    await store.drop_channel_value("teams", f"{PREFIX}Operations")
    assert await channel.conversation_id(place) == ids.APPROVALS


async def test_threat_t10_a_name_of_a_conversation_or_person_hides_nothing(
    sandbox: Sandbox, channel: TeamsChannel
):
    """Given a name with invisible or reordering characters, which members of a chat or team choose; then
    people read them as marks, wherever the name is shown."""
    channel_of(sandbox, ids.AUDIT).name = "Au\u202edit\n"
    channel.team_channels.expire(ids.APPROVALS)
    await channel.team_channels.all()
    assert channel.name_of(Place(f"teams:{ids.AUDIT}")).endswith(" > Au⟦U+202E⟧dit⏎")
    channel.set_label(ids.ALICE, "“Ali\u200bce” (8f3c5e0a)")
    assert channel.name_of(Place(f"teams:{ids.ALICE}")) == "“Ali⟦U+200B⟧ce” (8f3c5e0a)"
