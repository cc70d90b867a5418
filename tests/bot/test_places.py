"""What the text of a place means in Slack."""

from __future__ import annotations

import pytest

from bot.card import build_card
from bot.channels.contract import Audience, NotFound, Undeliverable
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.places import Destination, parse_place
from hitl_core.model import Place
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.workspace import Channel
from tests.support.builders import review_of

PERSON, GROUP, ROOM = "person", "group", "conversation"


@pytest.mark.parametrize(
    ("place", "spot"),
    [
        ("default", Destination(Audience(ROOM, "#approvals"))),
        ("slack:#team-ops", Destination(Audience(ROOM, "#team-ops"))),
        ("slack:C0123ABCD", Destination(Audience(ROOM, "C0123ABCD"))),
        ("slack:G0123ABCD", Destination(Audience(ROOM, "G0123ABCD"))),
        ("slack:D0123ABCD", Destination(Audience(ROOM, "D0123ABCD"))),
        (
            "slack:C0123ABCD/1700000000.000100",
            Destination(Audience(ROOM, "C0123ABCD"), "1700000000.000100"),
        ),
        ("slack:U0123ABCD", Destination(Audience(PERSON, "U0123ABCD"))),
        ("slack:W0123ABCD", Destination(Audience(PERSON, "W0123ABCD"))),
        ("slack:S0123ABCD", Destination(Audience(GROUP, "S0123ABCD"))),
        ("slack:S0123ABCD>U0123ABCD", Destination(Audience(PERSON, "U0123ABCD"))),
        ("slack:SABCDEFGH", Destination(Audience(GROUP, "SABCDEFGH"))),
        ("slack:UABCDEFGH", Destination(Audience(PERSON, "UABCDEFGH"))),
        ("slack:#c0123abcd", Destination(Audience(ROOM, "#c0123abcd"))),
        ("slack:#U0123ABCD", Destination(Audience(ROOM, "#U0123ABCD"))),
    ],
)
def test_each_place_is_one_thing(place: str, spot: Destination) -> None:
    """An id of letters alone is one; only what begins with # is a name."""
    assert parse_place(Place(place), "#approvals") == spot


def test_a_copy_leads_back_to_its_place() -> None:
    assert Place("slack:S1").for_member("U1").base == Place("slack:S1").base == "slack:S1"


async def test_a_renamed_channel_is_found_by_its_new_name_alone(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given #team-ops, which is called #ops-2 from now on; then a card goes there by the new name, and the
    old one leads nowhere."""
    review, _ = review_of()
    sandbox.workspace.channels["C0OPS"].name = "ops-2"
    channel.set_channel_name("C0OPS", "team-ops")
    channel.set_channel_name("C0OPS", "ops-2")
    drawn = build_card(review, Place("default"))
    assert (await channel.post(Place("slack:#ops-2"), drawn)).conversation == "C0OPS"
    with pytest.raises(Undeliverable):
        await channel.post(Place("slack:#team-ops"), drawn)
    assert channel.name_of(Place("slack:C0OPS")) == "#ops-2"


@pytest.mark.parametrize("ask", ["post", "check", "size"])
async def test_a_channel_that_was_created_again_is_found(
    channel: SlackChannel, sandbox: Sandbox, ask: str
) -> None:
    """Given #team-ops, which was deleted and created again, and a bot that got no event about it; then its
    old list is no proof that there is none: no review moves to its fallback for that."""
    place, rooms = Place("slack:#team-ops"), sandbox.workspace.channels
    assert await channel.conversation_id(place) == "C0OPS"
    old = rooms.pop("C0OPS")
    rooms["C0NEWOPS"] = Channel("C0NEWOPS", old.name, list(old.members))
    channel._listed_at -= 60
    match ask:
        case "post":
            ref = await channel.post(place, build_card(review_of()[0], Place("default")))
            assert ref.conversation == "C0NEWOPS"
        case "check":
            await channel.check_place(place)
        case _:
            assert await channel.conversation_size(place) == len(old.members)


async def test_a_place_that_is_gone_costs_few_lists(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given many cards for a channel in which the bot is not; then the names are not listed for each."""
    place = Place("slack:#team-ops")
    await channel.conversation_id(place)
    sandbox.workspace.channels["C0OPS"].members.clear()
    channel._listed_at -= 60
    for _ in range(5):
        with pytest.raises(NotFound):
            await channel.check_place(place)
    lists = [one for one in sandbox.api.calls if one["method"] == "conversations.list"]
    assert len(lists) == 2
