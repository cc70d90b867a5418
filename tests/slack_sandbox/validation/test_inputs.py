"""What Slack's client sends for fields that nobody changed, and what it does not send."""

from __future__ import annotations

from typing import Any

import pytest

from slack_sandbox.client.locators import ScriptError, build_state, state_entry
from slack_sandbox.validation.blocks import complete_blocks
from slack_sandbox.validation.input_errors import REQUIRED, client_errors
from slack_sandbox.validation.states import fill_state, initial_state
from tests.slack_sandbox.samples import field, option, text_field

Json = dict[str, Any]
OPTIONS = [option("new"), option("vip")]
KEPT = complete_blocks([{"type": "static_select", "options": OPTIONS}])[0]["options"]

# element, its state when untouched, a value that a person enters, the state then
SHAPES: dict[str, tuple[Json, Json, Any, Json]] = {
    "text": ({"type": "plain_text_input"}, {"value": None}, "hi", {"value": "hi"}),
    "text with a start": (
        {"type": "plain_text_input", "initial_value": "a"},
        {"value": "a"},
        None,
        {"value": None},
    ),
    "number": (
        {"type": "number_input", "is_decimal_allowed": False, "initial_value": "1"},
        {"value": "1"},
        42,
        {"value": "42"},
    ),
    "select": (
        {"type": "static_select", "options": OPTIONS, "initial_option": OPTIONS[0]},
        {"selected_option": KEPT[0]},
        1,
        {"selected_option": KEPT[1]},
    ),
    "select by label": (
        {"type": "static_select", "options": OPTIONS},
        {"selected_option": None},
        "vip",
        {"selected_option": KEPT[1]},
    ),
    "radio": (
        {"type": "radio_buttons", "options": OPTIONS},
        {"selected_option": None},
        {"option": 0},
        {"selected_option": KEPT[0]},
    ),
    "checkboxes": (
        {"type": "checkboxes", "options": OPTIONS},
        {"selected_options": []},
        [0, "vip"],
        {"selected_options": KEPT},
    ),
    "ticked checkboxes": (
        {"type": "checkboxes", "options": OPTIONS, "initial_options": [OPTIONS[1]]},
        {"selected_options": [KEPT[1]]},
        [],
        {"selected_options": []},
    ),
    "date": (
        {"type": "datepicker", "initial_date": "2026-01-02"},
        {"selected_date": "2026-01-02"},
        "2027-03-04",
        {"selected_date": "2027-03-04"},
    ),
    "time": ({"type": "timepicker"}, {"selected_time": None}, "08:30", {"selected_time": "08:30"}),
    "datetime": (
        {"type": "datetimepicker", "initial_date_time": 1_795_000_000},
        {"selected_date_time": 1_795_000_000},
        1_796_000_000,
        {"selected_date_time": 1_796_000_000},
    ),
    "people": (
        {"type": "multi_users_select", "initial_users": ["U1"]},
        {"selected_users": ["U1"]},
        ["U2"],
        {"selected_users": ["U2"]},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_state_of_each_kind_of_input(name: str) -> None:
    element, untouched, value, entered = SHAPES[name]
    blocks = complete_blocks([field("f", element)])
    kind = {"type": element["type"]}
    assert initial_state(blocks) == {"f": {"v": kind | untouched}}
    assert fill_state(blocks, build_state(blocks, {"f": value})) == {"f": {"v": kind | entered}}


@pytest.mark.parametrize(
    ("element", "value", "says"),
    [
        ({"type": "plain_text_input"}, None, REQUIRED),
        ({"type": "plain_text_input", "initial_value": "a"}, "", REQUIRED),
        ({"type": "static_select", "options": OPTIONS}, None, REQUIRED),
        ({"type": "checkboxes", "options": OPTIONS}, [], REQUIRED),
        ({"type": "plain_text_input", "min_length": 3}, "ab", "at least 3 characters"),
        ({"type": "plain_text_input", "max_length": 3}, "abcd", "no more than 3 characters"),
        ({"type": "plain_text_input"}, "x" * 3001, "no more than 3000 characters"),
        ({"type": "number_input", "is_decimal_allowed": True}, "1e3", "valid number"),
        ({"type": "number_input", "is_decimal_allowed": True}, "many", "valid number"),
        ({"type": "number_input", "is_decimal_allowed": False}, "1.5", "whole number"),
        ({"type": "number_input", "is_decimal_allowed": False, "min_value": "2"}, 1, "at least 2"),
        ({"type": "number_input", "is_decimal_allowed": True, "max_value": "2"}, 2.1, "at most 2"),
        ({"type": "email_text_input"}, "jo@", "valid email"),
        ({"type": "url_text_input"}, "example.com", "valid URL"),
        (
            {"type": "multi_static_select", "options": OPTIONS, "max_selected_items": 1},
            [0, 1],
            "no more than 1 items",
        ),
    ],
)
def test_what_the_client_does_not_send(element: Json, value: Any, says: str) -> None:
    blocks = complete_blocks([field("f", element)])
    complaints = client_errors(blocks, fill_state(blocks, build_state(blocks, {"f": value})))
    assert says in complaints["f"]


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ({"type": "number_input", "is_decimal_allowed": True, "min_value": "-1"}, "-.5"),
        ({"type": "number_input", "is_decimal_allowed": False, "max_value": "2"}, "2.0"),
        ({"type": "email_text_input"}, "jo@example.com"),
        ({"type": "url_text_input"}, "https://example.com/a"),
        ({"type": "plain_text_input", "min_length": 3, "max_length": 3}, "abc"),
    ],
)
def test_what_it_sends(element: Json, value: Any) -> None:
    blocks = complete_blocks([field("f", element)])
    assert client_errors(blocks, fill_state(blocks, build_state(blocks, {"f": value}))) == {}


def test_an_optional_field_may_be_empty() -> None:
    blocks = complete_blocks([{**text_field("f", min_length=3), "optional": True}])
    assert client_errors(blocks, initial_state(blocks)) == {}


def test_nobody_can_choose_what_is_not_offered() -> None:
    blocks = complete_blocks([field("f", {"type": "static_select", "options": OPTIONS})])
    forged = {"f": {"v": {"selected_option": option("admin")}}}
    with pytest.raises(ValueError, match="is not an option"):
        fill_state(blocks, forged)


def test_fields_are_named_by_id_label_or_a_part_of_the_id() -> None:
    blocks = complete_blocks([text_field("f:/customerId#1"), text_field("f:/status#1")])
    for name in ("f:/status#1", "the f:/status#1", "status"):
        assert list(build_state(blocks, {name: "x"})) == ["f:/status#1"]
    with pytest.raises(ScriptError, match="no one field is 'f:/'"):
        build_state(blocks, {"f:/": "x"})


def test_an_entry_names_its_type() -> None:
    assert state_entry({"type": "plain_text_input"}, 5) == {
        "type": "plain_text_input",
        "value": "5",
    }
