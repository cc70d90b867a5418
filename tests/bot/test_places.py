"""What a place is in Slack."""

from __future__ import annotations

import pytest

from bot.channel import Audience, copy_for, of_copy
from bot.channels.slack.places import Spot, spot_of

PERSON, GROUP, ROOM = "person", "group", "conversation"


@pytest.mark.parametrize(
    ("place", "spot"),
    [
        ("default", Spot(Audience(ROOM, "#approvals"))),
        ("slack:#team-ops", Spot(Audience(ROOM, "#team-ops"))),
        ("slack:C0123ABCD", Spot(Audience(ROOM, "C0123ABCD"))),
        ("slack:G0123ABCD", Spot(Audience(ROOM, "G0123ABCD"))),
        ("slack:D0123ABCD", Spot(Audience(ROOM, "D0123ABCD"))),
        (
            "slack:C0123ABCD/1700000000.000100",
            Spot(Audience(ROOM, "C0123ABCD"), "1700000000.000100"),
        ),
        ("slack:U0123ABCD", Spot(Audience(PERSON, "U0123ABCD"))),
        ("slack:W0123ABCD", Spot(Audience(PERSON, "W0123ABCD"))),
        ("slack:S0123ABCD", Spot(Audience(GROUP, "S0123ABCD"))),
        ("slack:S0123ABCD>U0123ABCD", Spot(Audience(PERSON, "U0123ABCD"))),
        ("slack:SUPPORT", Spot(Audience(ROOM, "SUPPORT"))),
    ],
)
def test_each_place_is_one_thing(place: str, spot: Spot) -> None:
    assert spot_of(place, "#approvals") == spot


def test_a_copy_leads_back_to_its_place() -> None:
    assert of_copy(copy_for("slack:S1", "U1")) == "slack:S1"
    assert of_copy("slack:S1") == "slack:S1"
