"""What a client sends for a card's inputs, and which entries it doesn't send."""

from __future__ import annotations

from typing import Any

import pytest

from teams_sandbox.validation import InputError, check_inputs, read_press
from tests.teams_sandbox.cards import button, buttons, card, choices, field

Json = dict[str, Any]
NEEDED: Json = {"isRequired": True, "errorMessage": "Fill this in."}


@pytest.mark.parametrize(
    ("element", "entry", "sent"),
    [
        (field("Text"), "a\nb", "ab"),
        (field("Text", isMultiline=True), "a\r\nb", "a\nb"),
        (field("Text", value="x"), None, ""),
        (field("Number"), "12", "12"),
        (field("Number"), "0.20", "0.2"),
        (field("Number"), "1e3", "1000"),
        (field("Number"), "-0", "0"),
        (field("Number"), "12345678901234567890", "12345678901234567000"),
        (field("Number"), "1e21", "1e+21"),
        (field("Number"), "0.0000001", "1e-7"),
        (field("Number", min=1, max=10_000), "99999", "10000"),
        (field("Number", min=1, max=10_000), "0", "1"),
        (field("Toggle"), True, "true"),
        (field("Toggle", valueOn="1", valueOff="0", value="1"), False, "0"),
        (choices("a", "b"), "b", "b"),
        (choices("0", "1", "2", isMultiSelect=True), ["2", "0"], "0,2"),
        (choices("0", "1", isMultiSelect=True, value="1"), None, ""),
        (field("Date"), "2027-03-01", "2027-03-01"),
        (field("Time"), "09:30", "09:30"),
    ],
)
def test_each_input_is_sent_as_text(element: Json, entry: Any, sent: str):
    assert check_inputs(card(element), {"f_1": entry}) == {"f_1": sent}


def test_inputs_that_nobody_touched_keep_their_values():
    """Given inputs with and without values, then texts are empty, toggles off, and the rest is absent."""
    form = card(
        field("Text", "a", value="x"),
        field("Text", "b"),
        field("Number", "c", value=2.50),
        field("Number", "d"),
        field("Toggle", "e"),
        field("Date", "f"),
        {**choices("1"), "id": "g"},
        {**choices("1", isMultiSelect=True), "id": "h"},
    )
    assert check_inputs(form, {}) == {"a": "x", "b": "", "c": "2.5", "e": "false", "h": ""}


@pytest.mark.parametrize(
    ("element", "entry"),
    [
        (field("Text", **NEEDED), ""),
        (field("Number", **NEEDED), None),
        (field("Toggle", **NEEDED), False),
        (choices("a", **NEEDED), None),
        (choices("a", isMultiSelect=True, **NEEDED), []),
        (field("Date", **NEEDED), None),
        (field("Text", regex="^[0-9]+$", errorMessage="Fill this in."), "12a"),
        (field("Date", min="2027-01-01", errorMessage="Fill this in."), "2026-12-31"),
        (field("Time", max="17:00", errorMessage="Fill this in."), "17:01"),
    ],
)
def test_the_client_sends_nothing_where_an_input_is_wrong(element: Json, entry: Any):
    with pytest.raises(InputError) as error:
        check_inputs(card(element), {"f_1": entry})
    assert error.value.errors == {"f_1": "Fill this in."}


@pytest.mark.parametrize(
    ("element", "entry"),
    [
        (field("Text", maxLength=3), "abcd"),
        (field("Number"), "ten"),
        (field("Number"), "nan"),
        (field("Toggle"), "true"),
        (choices("a"), "b"),
        (choices("a"), ["a"]),
        (choices("a", isMultiSelect=True), "a"),
        (field("Date"), "1.3.2027"),
        (field("Date"), "2027-02-30"),
        (field("Time"), "9:30"),
    ],
)
def test_what_no_client_lets_a_person_do_is_a_mistake_of_the_script(element: Json, entry: Any):
    with pytest.raises(ValueError, match="f_1"):
        check_inputs(card(element), {"f_1": entry})


def test_an_input_that_is_not_there_is_a_mistake_of_the_script():
    with pytest.raises(ValueError, match="f_2"):
        check_inputs(card(field("Text")), {"f_2": "x"})


def test_a_press_sends_the_actions_data_and_the_inputs():
    """Given an input with the name of a key of the data, then the input wins, as in a client."""
    send = button("Send", data={"hitl": "form", "f_1": "ours"})
    form = card(field("Text"), buttons(send))
    assert read_press(form, send, {"f_1": "theirs"}) == {"hitl": "form", "f_1": "theirs"}


def test_a_press_that_takes_no_inputs_sends_its_data_alone():
    """Given a required input that is empty, then Cancel is sent, Send is not."""
    cancel = button("Cancel", associatedInputs="none")
    form = card(field("Text", **NEEDED), buttons(button("Send"), cancel))
    assert read_press(form, cancel, {}) == {"hitl": "press"}
    with pytest.raises(InputError):
        read_press(form, form["body"][1]["actions"][0], {})


def test_a_button_of_another_card_is_a_mistake_of_the_script():
    with pytest.raises(ValueError, match="no such action"):
        read_press(card(buttons(button())), button("Reject"), {})
