"""HITL_PEOPLE: which identities belong to one human. Each mistake is an error at start, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.people import load_people
from hitl_core.errors import SettingsError


def test_identities_in_one_list_are_one_human(channel: SlackChannel, tmp_path: Path) -> None:
    file = tmp_path / "people.yaml"
    file.write_text("people:\n  - [slack:U0MARIA, teams:8f3c]\n  - [slack:U0BOB, slack:W0BOB]\n")
    people = load_people(str(file), Channels(channel))
    assert people.keys_of("teams:8f3c") == people.keys_of("slack:U0MARIA")
    assert people.keys_of("slack:U0MARIA") == {"slack:U0MARIA", "teams:8f3c"}
    assert people.keys_of("slack:W0BOB") == {"slack:U0BOB", "slack:W0BOB"}
    assert people.keys_of("slack:U0ANN") == {"slack:U0ANN"}


def test_an_identity_in_another_spelling_is_the_same(channel: SlackChannel, tmp_path: Path) -> None:
    """attack 7, L2: given a person's GUID of Teams in upper case, whose case means nothing, then it is the
    person whom Teams writes in lower case, and it is found when it is there twice."""
    file, guid = tmp_path / "people.yaml", "8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11"
    file.write_text(f"people:\n  - [slack:U0MARIA, teams:{guid.upper()}]\n")
    people = load_people(str(file), Channels(channel))
    assert people.keys_of(f"teams:{guid}") == {"slack:U0MARIA", f"teams:{guid}"}
    file.write_text(f"people:\n  - [teams:{guid}, teams:{guid.upper()}]\n")
    with pytest.raises(SettingsError, match="is already in line 2"):
        load_people(str(file), Channels(channel))


def test_without_the_setting_each_identity_is_a_human(channel: SlackChannel) -> None:
    assert load_people("", Channels(channel)).keys_of("slack:U0BOB") == {"slack:U0BOB"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "line 1: The file must have one key"),
        ("- [slack:U0A, teams:b]\n", "line 1: The file must have one key"),
        ("people:\n  - [slack:U0AA, teams:b]\npeopel: []\n", "line 3: Unknown key `peopel`"),
        ("people: []\npeople: []\n", "line 2: `people` appears twice"),
        ("people: slack:U0AA\n", "line 1: `people` must be a list of lists"),
        ("people:\n  - [slack:U0AA]\n", "line 2: Each entry is a list of two identities or more"),
        ("people:\n  - slack:U0AA\n", "line 2: Each entry"),
        ("people:\n  - [[slack:U0AA], teams:b]\n", "line 2: Each entry"),
        ("people:\n  - [slack:U0AA, U0BB]\n", "line 2: `U0BB` is not CHANNEL:ID of a person"),
        ("people:\n  - [slack:C0AA/1.1, teams:b]\n", "line 2: `slack:C0AA/1.1` is not CHANNEL:ID"),
        ("people:\n  - [default, teams:b]\n", "line 2: `default` is not CHANNEL:ID"),
        ("people:\n  - ['slack:#ops', teams:b]\n", "line 2: `slack:#ops` is not a person's id"),
        ("people:\n  - [slack:S0OPS, teams:b]\n", "line 2: `slack:S0OPS` is not a person's id"),
        ("people:\n  - [slak:U0AA, teams:b]\n", "line 2: `slak:U0AA`: there is no channel `slak`"),
        (
            "people:\n  - [slack:U0AA, teams:b]\n  - [slack:U0CC, teams:b]\n",
            "line 3: `teams:b` is already in line 2",
        ),
        ("people:\n  - [slack:U0AA, slack:U0AA]\n", "line 2: `slack:U0AA` is already in line 2"),
        ("people: [\n", "This is not YAML"),
    ],
)
def test_a_mistake_is_an_error_with_its_line(
    channel: SlackChannel, tmp_path: Path, text: str, error: str
) -> None:
    file = tmp_path / "people.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_people(str(file), Channels(channel))
    assert str(caught.value).startswith(f"HITL_PEOPLE: {file}, line ")
    assert error in str(caught.value)


def test_a_missing_file_is_an_error(channel: SlackChannel, tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"HITL_PEOPLE: .*none\.yaml can't be read: No such file"
    ):
        load_people(str(tmp_path / "none.yaml"), Channels(channel))
