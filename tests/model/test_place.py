"""A place is one value, and its text and its parts always agree."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from hitl_core.model import (
    DEFAULT_PLACE,
    ORIGIN,
    MessageRef,
    Place,
    Reviewer,
    Reviewers,
    Route,
    person_key,
    split_id,
)

ROOT = Path(__file__).parents[2]
CHANNELS = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
#: Also what Teams has: `19:…@thread.tacv2`, `29:1…`, a GUID.
IDS = st.text(st.characters(exclude_characters="/>", exclude_categories=["Cs"]), min_size=1)
PLACES = st.builds(Place.of, CHANNELS, IDS, IDS | st.just(""), IDS | st.just(""))


@given(CHANNELS, IDS, IDS | st.just(""), IDS | st.just(""))
def test_a_place_has_the_parts_that_it_was_made_of(
    channel: str, target: str, thread: str, member: str
) -> None:
    place = Place.of(channel, target, thread, member)
    again = Place(str(place))
    assert (again.channel, again.target, again.thread, again.member) == (
        channel,
        target,
        thread,
        member,
    )
    assert again == place == str(place)


@given(PLACES, IDS)
def test_a_copy_is_of_one_member_and_in_the_same_conversation(place: Place, id: str) -> None:
    copy = place.for_member(id)
    assert (copy.member, copy.base, copy.base.member) == (id, place.base, "")
    assert copy.conversation == place.conversation == Place.of(place.channel, place.target)


@given(PLACES | st.just(DEFAULT_PLACE) | st.just(ORIGIN))
def test_json_has_a_place_as_text_and_gives_back_a_place(place: Place) -> None:
    several = TypeAdapter(dict[Place, tuple[Place, ...]])
    stored = several.dump_json({place: (place,)})
    assert several.validate_json(stored) == {place: (place,)}
    assert all(type(key) is Place for key in several.validate_json(stored))
    assert type(Route.model_validate({"notify": [str(place)]}).notify[0]) is Place


@pytest.mark.parametrize("place", [DEFAULT_PLACE, ORIGIN])
def test_the_bots_own_place_and_the_origin_have_no_parts(place: Place) -> None:
    assert (place.channel, place.target, place.thread, place.member) == ("", "", "", "")
    assert place.base == place.conversation == place


@pytest.mark.parametrize(
    "text",
    [
        *("", "ops", "#ops", "slack:", ":#ops", "Slack:#ops", "slack:C1/", "slack:C1>"),
        *(
            "slack:C1/1>",
            "slack:C1/1/2",
            "slack:S1>U1>U2",
            "slack:S1>U1/2",
            "default ",
            "default/1",
        ),
    ],
)
def test_other_text_is_no_place(text: str) -> None:
    with pytest.raises(ValueError, match="is not a place"):
        Place(text)


@pytest.mark.parametrize(
    ("id", "key"),
    [
        ("U0MARIA", "slack:U0MARIA"),
        ("slack:U0MARIA", "slack:U0MARIA"),
        ("teams:8f3c", "teams:8f3c"),
    ],
)
def test_an_id_without_a_channel_is_of_slack(id: str, key: str) -> None:
    assert person_key(id) == key


GUID = "8F3C5E0A-1C1F-4D1E-9A53-0D6F0F2F7B11"


def test_a_guid_of_teams_has_one_spelling() -> None:
    """T34: given a person or group of Teams whose id is written in capitals; then it is the same id
    everywhere: a second spelling would be a second vote. The case of other ids stays."""
    low = GUID.lower()
    assert split_id(f"teams:{GUID}") == ("teams", low)
    assert person_key(f"teams:{GUID}") == f"teams:{low}"
    assert Place(f"teams:{GUID}") == f"teams:{low}"
    assert Place(f"teams:group:{GUID}>{GUID}") == f"teams:group:{low}>{low}"
    assert Place.of("teams", "group:x").for_member(GUID).member == low
    assert Reviewers(users=(f"teams:{GUID}",), groups=("S1",)).users == (f"teams:{low}",)
    maria = Reviewer(channel="teams", team="t", id=low, name="Maria")
    assert maria.is_named(f"teams:{GUID}")
    assert maria.is_named(GUID)
    assert Place("teams:19:AbC@thread.tacv2") == "teams:19:AbC@thread.tacv2"
    assert Place(f"slack:{GUID}") == f"slack:{GUID}"


def test_a_group_of_teams_has_one_spelling() -> None:
    """A person's and a group's id have the same form there, so the place of a group says that it is one; a
    policy's `groups` may write it in both ways."""
    expected = f"teams:group:{GUID.lower()}"
    assert Reviewers(groups=(f"teams:{GUID}", f"teams:group:{GUID}", "S1", "teams:x")).groups == (
        *(expected, expected),
        *("S1", "teams:x"),
    )


def test_a_message_is_the_same_at_another_address() -> None:
    """Given that Teams serves a conversation from another address, then its message is still found."""
    old = MessageRef(
        channel="teams", conversation="19:a@thread.tacv2", ts="1", service_url="https://a"
    )
    moved = old.model_copy(update={"service_url": "https://b"})
    assert old != moved
    assert old.key == moved.key


def test_only_one_file_takes_a_places_text_apart() -> None:
    """No other file splits the text of a place, a conversation or an origin, or knows the prefix `slack:`.

    The policy reader is the exception: it says what is wrong with a text that is no place. A name of a
    variable is all that this test can see, so it is a reminder and no proof.
    """
    splitting = {"partition", "rpartition", "split", "removeprefix", "removesuffix", "startswith"}
    named = ("place", "origin", "conversation", "requester", "where")
    # Parsing all files takes seconds, so only those with such a call are parsed.
    calls = re.compile(rf"\.({'|'.join(splitting)})\(\s*[\"'](slack:|[:/>])[\"']")
    found = []
    for file in [*ROOT.glob("hitl_core/**/*.py"), *ROOT.glob("bot/**/*.py")]:
        if file.match("model/place.py") or file.match("policy/reader/*.py"):
            continue
        text = file.read_text()
        if not calls.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in splitting:
                    args = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                    about_place = any(name in ast.unparse(value).lower() for name in named)
                    if "slack:" in args or (about_place and {":", "/", ">"} & {*args}):
                        found.append(f"{file.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}")
                case _:
                    pass
    assert found == []
