"""Only ids give rights. Names are text: a name that a person chooses is no address and gives no right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.card import build_card
from bot.channels.contract import NotFound
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.handlers.events import Events
from bot.people.directory import Directory
from hitl_core.errors import Refused
from hitl_core.model import CLI, Grant, Place, Reviewer, Reviewers, Snapshot, person_label
from hitl_core.review.decisions import decide
from hitl_core.review.edits.proposal import Proposal
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.workspace.objects import Channel, Group
from tests.support.builders import START, review_of

CARL = "U0CARL"


@pytest.fixture
def directory(channel: SlackChannel) -> Directory:
    return Directory(Channels(channel))


async def conversation(channel: SlackChannel, place: Place) -> str:
    """The conversation of a card for this place."""
    review, _ = review_of()
    return (await channel.post(place, build_card(review, Place("default")))).conversation


@pytest.mark.parametrize(
    "name", ["#agent-approvals", "#finance", "#team-ops", "slack:#team-ops", "default"]
)
async def test_a_person_named_like_a_channel_gets_none_of_its_cards(
    channel: SlackChannel, directory: Directory, sandbox: Sandbox, name: str
) -> None:
    """Given Carl, who takes a channel's name in each way and is looked up, before and
    after the channels are; then its cards go to the channel."""
    for before in (True, False):
        for field in ("real_name", "name"):
            sandbox.users.change(CARL, **{field: name})
        if before:
            await conversation(channel, Place("slack:#team-ops"))
        directory.lookups("slack").forget_person(CARL)
        await directory.load_reviewer("slack", CARL, "T0ACME", name)
        assert await conversation(channel, Place("slack:#team-ops")) == "C0OPS"
        assert await conversation(channel, Place("slack:#finance")) == "G0FINANCE"
        assert await conversation(channel, Place("default")) == "C0APPROVE"


async def test_a_name_that_only_a_person_has_leads_nowhere(
    channel: SlackChannel, directory: Directory, sandbox: Sandbox
) -> None:
    sandbox.users.rename(CARL, "#payments")
    await directory.load_reviewer("slack", CARL, "T0ACME", "#payments")
    with pytest.raises(NotFound, match="no channel #payments"):
        await conversation(channel, Place("slack:#payments"))


@pytest.mark.parametrize("id", [CARL, "W0CARL", "S0OPS", "D0CARL"])
async def test_only_a_channel_can_have_a_channels_name(channel: SlackChannel, id: str) -> None:
    """Given an event that calls something else `team-ops`; then #team-ops leads to
    the same channel."""
    channel.set_channel_name(id, "team-ops")
    channel.set_label(id, "#team-ops")
    assert await conversation(channel, Place("slack:#team-ops")) == "C0OPS"


@pytest.mark.parametrize("handle", ["here", "channel", "#team-ops", "agent-approvals"])
async def test_a_groups_handle_leads_nowhere(
    channel: SlackChannel, sandbox: Sandbox, handle: str
) -> None:
    sandbox.workspace.groups["S0EVIL"] = Group("S0EVIL", handle, handle, [CARL])
    await channel.start()
    channel.set_label("S0EVIL", f"@{handle}")
    assert await conversation(channel, Place("slack:#team-ops")) == "C0OPS"
    assert await conversation(channel, Place("default")) == "C0APPROVE"


@pytest.mark.parametrize("name", ["c0ops", "u0bob", "s0ops", "d0carl"])
async def test_a_channel_named_like_an_id_is_only_its_name(
    channel: SlackChannel, sandbox: Sandbox, name: str
) -> None:
    """Given Carl's channel, which is called like an id; then #name leads there, and
    the id leads to its own channel."""
    sandbox.workspace.channels["C0EVIL"] = Channel("C0EVIL", name, [CARL, "U0APPROVER"])
    channel.set_channel_name("C0EVIL", name)
    assert await conversation(channel, Place(f"slack:#{name}")) == "C0EVIL"
    assert await conversation(channel, Place("slack:C0OPS")) == "C0OPS"
    assert await conversation(channel, Place("slack:U0BOB")) == "D0BOB"
    with pytest.raises(NotFound, match="neither a channel's id"):
        await conversation(channel, Place(f"slack:{name}"))


async def test_of_two_channels_with_one_name_none_is_meant(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given an archived channel of the name, then the live one is meant; given two
    live ones, as a shared channel can bring about, then neither."""
    for id, archived in (("C0GONE", True), ("C0TWIN", False)):
        sandbox.workspace.channels[id] = Channel(
            id, "team-ops", [CARL, "U0APPROVER"], is_archived=archived
        )
        if archived:
            assert await conversation(channel, Place("slack:#team-ops")) == "C0OPS"
    channel.set_channel_name("C0TWIN", "team-ops")
    with pytest.raises(NotFound, match="C0OPS and C0TWIN are both called #team-ops"):
        await conversation(channel, Place("slack:#team-ops"))


async def test_a_rename_in_another_workspace_changes_no_name_here(channel: SlackChannel) -> None:
    """Given a channel of the bot's own workspace; when Slack says that one that the bot can't see has its
    name now, then the name leads where it led."""
    events = Events(Directory(Channels(channel)).lookups("slack"), channel)
    for id in ("C0ELSEWHERE", "C0OPS"):
        assert await channel.conversation_id(Place("slack:#team-ops")) == "C0OPS"
        await events.on_rename({"channel": {"id": id, "name": "team-ops"}})
    assert await channel.conversation_id(Place("slack:#team-ops")) == "C0OPS"


async def test_a_channel_that_the_bot_joined_and_that_was_renamed_is_found(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Its name until then was in no list: so the list is loaded again."""
    events = Events(Directory(Channels(channel)).lookups("slack"), channel)
    assert await channel.conversation_id(Place("slack:#team-ops")) == "C0OPS"
    new = replace(sandbox.workspace.channels["C0OPS"], id="C0NEW", name="new-ops")
    sandbox.workspace.channels["C0NEW"] = new
    await events.on_rename({"channel": {"id": "C0NEW", "name": "new-ops"}})
    assert await channel.conversation_id(Place("slack:#new-ops")) == "C0NEW"


async def test_the_bots_own_channel_stays_the_same_whatever_is_called_so_later(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given #agent-approvals, which is renamed, and Carl's new channel of that name;
    then cards go where they went when the bot started."""
    channel.set_channel_name("C0APPROVE", "old")
    sandbox.workspace.channels["C0EVIL"] = Channel(
        "C0EVIL", "agent-approvals", [CARL, "U0APPROVER"]
    )
    channel.set_channel_name("C0EVIL", "agent-approvals")
    assert await conversation(channel, Place("default")) == "C0APPROVE"
    assert channel.name_of(Place("default")) == "#old"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Bob Reyes", "“Bob Reyes” (U1)"),
        ("Łukasz Żak", "“Łukasz Żak” (U1)"),
        ("李小龍", "“李小龍” (U1)"),
        ("The deadline", "“The deadline” (U1)"),
        ("The agent", "“The agent” (U1)"),
        ("Nobody", "“Nobody” (U1)"),
        ("policy", "“policy” (U1)"),
        ("You", "“You” (U1)"),
        ("Slack", "“Slack” (U1)"),
        ("Alice and Bob", "“Alice and Bob” (U1)"),
        ("evil.com", "“evil.com” (U1)"),
        ("Воb Reyes", "“Воb Reyes” (U1)"),  # noqa: RUF001
        ("#team-ops", "“#team-ops” (U1)"),
        ("@ops", "“@ops” (U1)"),
        ("U0ALICE", "“U0ALICE” (U1)"),
        ("<!channel>", "“<!channel>” (U1)"),
        ("*Bob*\n", "“*Bob*” (U1)"),
        ("Bob or members of #team-ops", "“Bob or members of #team-ops” (U1)"),
        ("a” or “b", '“a" or "b” (U1)'),
        ("Bob❞ (U1) and ❝Ann", '“Bob" (U1) and "Ann” (U1)'),
        (" ", "U1"),
        ("", "U1"),
    ],
)
def test_a_name_in_our_sentences_is_never_a_part_of_them(name: str, shown: str) -> None:
    assert person_label(name, "U1") == shown


@pytest.mark.parametrize("name", ["The deadline", "The agent", "Nobody", "Alice Ng and Bob Reyes"])
def test_a_name_can_not_imitate_our_sentences(name: str) -> None:
    """Given a person who took a name of our sentences; then who decided is told with quotes and the id."""
    review, _ = review_of()
    key = review.actions[0].key
    by = Reviewer(channel="slack", team="T0ACME", id="U0BOB", name=name)
    decided = decide(review, key, Proposal("approve", 1), by, START).review
    with pytest.raises(Refused) as refused:
        decide(decided, key, Proposal("reject", 1), by, START)
    assert str(refused.value).startswith(f"“{name}” (U0BOB) already approved ")


@pytest.mark.parametrize("channel_name", ["teams", "door", "CLI", "", "cli ", "Slack"])
async def test_a_person_of_another_channel_has_no_right(
    directory: Directory, channel_name: str
) -> None:
    """House §5: given a reviewer of another channel, with the id and team of one who may;
    then Slack's rules give them nothing, and their vote doesn't stay."""
    grant = Grant((Place("slack:#team-ops"),), Reviewers(users=("U0BOB",)))
    review, _ = review_of()
    snapshot = Snapshot(review=review, posts={}, shown={}, now=0.0)
    bob = Reviewer(channel=channel_name, team="T0ACME", id="U0BOB", name="Bob")
    with pytest.raises(Refused) as refused:
        await directory.check_can_decide(bob, snapshot, [grant])
    assert refused.value.code == "not_permitted"
    await directory.check_can_decide(bob.model_copy(update={"channel": CLI}), snapshot, [grant])
