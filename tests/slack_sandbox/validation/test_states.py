"""The values of inputs: only what a browser's field could hold, and unchanged after the inputs are drawn
again.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_sandbox.validation.blocks import complete_blocks
from slack_sandbox.validation.states import fill_state, initial_state
from tests.slack_sandbox.samples import field, option, text_field

Json = dict[str, Any]
OPTIONS = [option("new"), option("vip")]


def enter(element: Json, entered: Json) -> Any:
    """What the input holds after this was entered."""
    entry = fill_state(complete_blocks([field("f", element)]), {"f": {"v": entered}})["f"]["v"]
    return next(value for key, value in entry.items() if key != "type")


@pytest.mark.parametrize(
    ("element", "typed", "kept"),
    [
        ({"type": "plain_text_input"}, "a\nb\r\nc", "abc"),
        ({"type": "plain_text_input", "multiline": True}, "a\nb\r\nc\rd", "a\nb\nc\nd"),
        ({"type": "plain_text_input"}, " a ", " a "),
        ({"type": "email_text_input"}, " jo@example.com ", "jo@example.com"),
        ({"type": "url_text_input"}, "https://example.com\n", "https://example.com"),
        ({"type": "url_text_input"}, "  ", None),
    ],
)
def test_text_is_held_as_a_field_of_a_browser_holds_it(
    element: Json, typed: str, kept: str | None
) -> None:
    assert enter(element, {"value": typed}) == kept
    untouched = initial_state(complete_blocks([field("f", {**element, "initial_value": typed})]))
    assert untouched["f"]["v"]["value"] == kept


@pytest.mark.parametrize(
    ("element", "entered"),
    [
        ({"type": "plain_text_input"}, {"value": 5}),
        ({"type": "datepicker"}, {"selected_date": "2027-02-29"}),
        ({"type": "timepicker"}, {"selected_time": "24:00"}),
        ({"type": "datetimepicker"}, {"selected_date_time": 12}),
        ({"type": "datetimepicker"}, {"selected_date_time": "1795000000"}),
        ({"type": "users_select"}, {"selected_user": ["U1"]}),
        ({"type": "multi_users_select"}, {"selected_users": "U1"}),
        ({"type": "static_select", "options": OPTIONS}, {"selected_option": option("admin")}),
        ({"type": "checkboxes", "options": OPTIONS}, {"selected_options": [option("admin")]}),
    ],
)
def test_an_input_holds_nothing_that_a_person_could_not_enter(element: Json, entered: Json) -> None:
    with pytest.raises(ValueError, match=r"can't hold|holds text|is not an option"):
        enter(element, entered)


BEFORE = {"f": {"v": {"type": "static_select", "selected_option": complete_blocks(OPTIONS)[0]}}}
SELECT = {"type": "static_select", "options": OPTIONS, "initial_option": OPTIONS[1]}


@pytest.mark.parametrize(
    ("block", "value"),
    [
        (field("f", SELECT), "new"),
        (field("g", SELECT), "vip"),
        (field("f", {**SELECT, "action_id": "w"}), "vip"),
        (field("f", {**SELECT, "options": OPTIONS[1:]}), "vip"),
        (field("f", {**SELECT, "type": "radio_buttons"}), "vip"),
    ],
    ids=["the same", "another block", "another action", "no longer offered", "another type"],
)
def test_an_unchanged_input_keeps_its_value_when_drawn_again(block: Json, value: str) -> None:
    state = fill_state(complete_blocks([block]), {}, BEFORE)
    (entry,) = next(iter(state.values())).values()
    assert entry["selected_option"]["value"] == value


@given(text=st.text(min_size=1, max_size=20), again=st.integers(1, 3))
def test_drawing_again_changes_nothing(text: str, again: int) -> None:
    blocks = complete_blocks([text_field("f", multiline=True, initial_value=text)])
    first = state = initial_state(blocks)
    for _ in range(again):
        state = fill_state(blocks, {}, state)
    assert state == first
