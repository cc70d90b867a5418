"""What Slack refuses in blocks: a value at each limit is accepted, and one more is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from slack_sandbox.validation.blocks import Surface, complete_blocks, problems
from tests.slack_sandbox.samples import field, mrkdwn, plain, text_field
from tests.slack_sandbox.validation.blocks import raw, rich_section, section, table
from tests.slack_sandbox.validation.invalid_blocks import (
    BROKEN,
    BROKEN_TABLES,
    blocks_with_any_value,
)
from tests.slack_sandbox.validation.valid_blocks import SOUND, TABLES


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("surface", ["message", "modal", "home"])
def test_what_is_at_its_limit_is_taken(name: str, surface: Surface) -> None:
    assert problems([SOUND[name]], surface) == []


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("surface", ["message", "modal", "home"])
def test_what_is_beyond_is_refused_with_its_place(name: str, surface: Surface) -> None:
    block, complaint = BROKEN[name]
    found = problems([block], surface)
    assert any(complaint in line for line in found), found
    assert all("[json-pointer:/blocks/0" in line for line in found)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_at_its_limit_is_taken(name: str) -> None:
    assert problems([TABLES[name]], "message") == problems([TABLES[name]], "home") == []
    assert "unsupported type: table" in problems([TABLES[name]], "modal")[0]


@pytest.mark.parametrize("name", BROKEN_TABLES)
def test_a_table_beyond_its_limit_is_refused_with_its_place(name: str) -> None:
    block, complaint = BROKEN_TABLES[name]
    found = problems([block], "message")
    assert any(complaint in line for line in found), found
    assert all("[json-pointer:/blocks/0" in line for line in found)


def test_a_message_has_one_table() -> None:
    rich = rich_section({"type": "text", "text": "x"})
    assert problems([table([rich])], "message") == []
    assert problems([table([rich]), table([raw("x")])], "message") == [
        "only_one_table_allowed [json-pointer:/blocks/1]"
    ]


@pytest.mark.parametrize(("surface", "most"), [("message", 50), ("modal", 100), ("home", 100)])
def test_the_number_of_blocks(surface: Surface, most: int) -> None:
    divider = {"type": "divider"}
    assert problems([divider] * most, surface) == []
    assert problems([divider] * (most + 1), surface) == [
        f"no more than {most} items allowed [json-pointer:/blocks]"
    ]


def test_a_block_id_is_used_once() -> None:
    twice = [{"type": "divider", "block_id": "d"}] * 2
    assert problems(twice, "message") == [
        "`block_id` d already exists [json-pointer:/blocks/1/block_id]"
    ]


def test_only_one_element_has_the_focus() -> None:
    blocks = [text_field("a", focus_on_load=True), text_field("b", focus_on_load=True)]
    assert problems(blocks, "modal") == [
        "only one element may have `focus_on_load` [json-pointer:/blocks]"
    ]


def alert(**parts: Any) -> dict[str, Any]:
    return {"type": "alert", "text": plain("x"), **parts}


def test_alerts_are_for_modals() -> None:
    sound = [
        alert(text=plain("x" * 200), level="error"),
        alert(text=mrkdwn("x"), level="warning"),
        alert(),
    ]
    assert problems(sound, "modal") == []
    assert "unsupported type: alert" in problems(sound, "message")[0]
    assert "unsupported type: alert" in problems(sound, "home")[0]


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (alert(text=plain("x" * 201)), "must be less than 201 characters"),
        (alert(text=plain("")), "must be more than 0 characters"),
        (alert(level="danger"), "must be a valid enum value"),
        ({"type": "alert"}, "missing required field: text"),
        (alert(elements=[]), "invalid additional property: elements"),
    ],
)
def test_what_is_no_alert_is_refused(broken: dict[str, Any], complaint: str) -> None:
    found = problems([broken], "modal")
    assert any(complaint in line for line in found), found


def test_files_are_for_modals() -> None:
    upload = field("f", {"type": "file_input", "max_files": 10})
    assert problems([upload], "modal") == []
    assert "unsupported type: file_input" in problems([upload], "message")[0]
    assert "unsupported type: file_input" in problems([upload], "home")[0]


@given(block=blocks_with_any_value())
def test_whatever_a_block_holds_it_is_judged(block: dict[str, Any]) -> None:
    assert all("[json-pointer:/blocks/0" in line for line in problems([block], "modal"))


def test_missing_ids_and_defaults_are_filled_in_and_given_ones_stay() -> None:
    sent = [
        {"type": "divider"},
        {"type": "actions", "block_id": "b", "elements": [{"type": "button", "text": plain("x")}]},
        section(mrkdwn("x")),
    ]
    divider, row, words = complete_blocks(sent)
    assert divider["block_id"]
    assert divider["block_id"] != words["block_id"]
    assert row["block_id"] == "b"
    assert row["elements"][0]["action_id"]
    assert row["elements"][0]["text"]["emoji"] is True
    assert words["text"]["verbatim"] is False
    assert sent[0] == {"type": "divider"}
