"""What a button of a Teams card contains: ids with a MAC, so that a client can't change them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.teams.ids import (
    IN_HOME,
    ON_CARD,
    ButtonKey,
    OpenForm,
    Where,
    close_data,
    mark_of,
    message_mark,
)
from bot.forms import FormRef
from bot.inbox import ActionRef, Press
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place

KEY = ButtonKey(b"k" * 32)
VALUE = "approve.0-abc.1.2.5eal"
PLACE = Place("teams:19:a b@thread.tacv2")


def test_what_we_wrote_is_read_back() -> None:
    assert KEY.read(KEY.data("press", VALUE)) == ("press", VALUE)


def test_a_short_key_is_refused() -> None:
    """Given a key that could be guessed; then nothing is signed with it."""
    with pytest.raises(ValueError, match="it needs 32"):
        ButtonKey(b"k" * 31)


def test_the_inputs_of_a_form_are_beside_it() -> None:
    """Given inputs, which a client merges into the data; then they change nothing of ours."""
    assert KEY.read({**KEY.data("press", VALUE), "f_hitl": "home", "f_value": "x"})[1] == VALUE


GOOD: dict[str, Any] = KEY.data("press", VALUE)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {**GOOD, "value": "approve.0-abc.1.3.5eal"},
        {**GOOD, "hitl": "home"},
        {**GOOD, "hitl": "other"},
        {**GOOD, "mac": ""},
        {**GOOD, "mac": GOOD["mac"] + "A"},
        {**GOOD, "mac": GOOD["mac"][:-1]},
        {**GOOD, "mac": None},
        {**GOOD, "mac": ["x"]},
        {**GOOD, "mac": "é"},
        {**GOOD, "mac": "\ud800"},
        {**GOOD, "value": "\ud800"},
        {**GOOD, "value": 7},
        {"hitl": "press", "value": VALUE},
        ButtonKey(b"j" * 32).data("press", VALUE),
        {**KEY.data("press", ""), "value": "\0"},
    ],
    ids=str,
)
def test_data_that_is_not_ours_is_refused(data: dict[str, Any]) -> None:
    """T29: given another value, kind, key or MAC, or none; then it is refused with a sentence."""
    with pytest.raises(Refused) as refused:
        KEY.read(data)
    assert refused.value.code == "unknown_action"


def test_a_button_is_ours_only_in_its_conversation() -> None:
    """T29."""
    here, there = KEY.within("19:a@thread.tacv2"), KEY.within("19:b@thread.tacv2")
    assert here.read(here.data("press", VALUE)) == ("press", VALUE)
    for other in (there, KEY):
        with pytest.raises(Refused):
            other.read(here.data("press", VALUE))


@given(st.text(), st.text(max_size=5), st.text(max_size=5))
def test_a_kind_and_a_value_are_signed_together(value: str, cut: str, more: str) -> None:
    """T29: given a MAC of one kind and value; then it is good for no other."""
    data = KEY.data("press", value)
    for changed in (value + more, cut + value):
        if changed != value:
            with pytest.raises(Refused):
                KEY.read({**data, "value": changed})


FORMS = [
    OpenForm("s1", FormRef("edit", ActionRef("0-abc", "1", 2, "5eal"))),
    OpenForm(
        "s2",
        FormRef(
            "escalate",
            ActionRef("0-abc", "", 1),
            card=MessageRef(channel="teams", conversation="19:x", ts="17", service_url="https://s"),
        ),
        ("message",),
        IN_HOME,
    ),
    OpenForm(
        "s3",
        FormRef("edit", ActionRef("0-abc", "1", 2), 3, "d1", "other", "d1gest"),
        ("f:/a#2", "tool"),
        Where("review", PLACE, 7, in_home=True),
    ),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_an_open_form_is_read_back(form: OpenForm) -> None:
    assert OpenForm.parse(form.to_value()) == form


def test_a_form_of_another_version_is_refused() -> None:
    for value in ("", "{}", "[]", '{"session_id": 1}', "nonsense"):
        with pytest.raises(Refused):
            OpenForm.parse(value)


@pytest.mark.parametrize(
    "where",
    [ON_CARD, IN_HOME, Where("review", PLACE, 12), Where("review", PLACE, 1, "d1", True)],
    ids=str,
)
def test_a_press_says_in_which_view_it_was(where: Where) -> None:
    """Given a button in a view; then both are read back, also where a place has spaces."""
    kind, value = KEY.read(KEY.data(where.kind, where.value(VALUE)))
    assert Where.parse(kind, value) == (where, VALUE)


def test_to_close_leads_to_where_the_person_was() -> None:
    """Given a page or a form; then closing it shows the card, the Home, or the page of the Review again."""
    assert KEY.read(close_data(KEY, ON_CARD, "0-abc")) == ("close", "0-abc")
    assert KEY.read(close_data(KEY, IN_HOME, "0-abc")) == ("close", "")
    kind, value = KEY.read(close_data(KEY, Where("review", PLACE, 12), "0-abc"))
    where, button = Where.parse(kind, value)
    assert where.place == PLACE
    assert (Press.parse(button).verb, Press.parse(button).number) == ("next", 12)


def test_a_mark_counts_only_in_its_place() -> None:
    """Given a card with our mark as a text or further down; then it is not marked."""
    mark = message_mark("0-abc", PLACE)
    block = {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": mark}]}
    assert mark_of({"body": [{**block, "id": mark}]}) == mark
    assert mark_of({"body": [block, {**block, "id": mark}]}) == ""
    assert mark_of({"body": [{"id": "title"}]}) == mark_of({"body": "x"}) == mark_of({}) == ""
