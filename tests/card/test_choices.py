"""The answers that a question offers: a person sees all of an answer before they can press it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import ActionText, action_text, build_card, choices_of, plain_text
from bot.card.model.spans import PlaceNames
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.channels.slack.render.card_message import message
from bot.forms import AnswerForm, FormRef
from bot.inbox import ActionRef
from hitl_core.model import DEFAULT_PLACE, ReviewConfig
from tests.channels.reading import to_text
from tests.channels.scenes import asking, name_of

#: As much of a button's text as a phone shows.
SEEN = 30
TO_THE_CARD = "Refund 80.00 EUR to the card of the customer"
TO_A_SUPPLIER = "Refund 80.00 EUR to the account of the supplier"


def question(schema: dict[str, Any], *allowed: str, **rule: Any) -> ActionText:
    review = asking(schema, *allowed, **rule)
    [action] = build_card(review, DEFAULT_PLACE).open_actions
    return action_text(review.id, action, PlaceNames(name_of))


def answers(schema: dict[str, Any]) -> list[str]:
    return [plain_text(line) for line in question(schema).answers]


def labels(schema: dict[str, Any]) -> list[str]:
    return [one.label for one in question(schema).buttons if one.verb == "answer"]


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": ["EUR", "USD"]},
        {"oneOf": [{"title": "EUR", "const": "EUR"}, {"const": 5}]},
        {"type": "boolean"},
    ],
)
def test_short_answers_that_are_what_they_say_need_no_list(
    schema: dict[str, Any],
) -> None:
    assert answers(schema) == []
    assert not any(label.startswith("A") for label in labels(schema))


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        (
            {"oneOf": [{"title": "Refund nothing", "const": {"amount": 120}}, {"const": "No"}]},
            ['A  “Refund nothing” sends “{"amount": 120}”', "B  “No”"],
        ),
        ({"enum": [5, "6"]}, ["A  “5”", 'B  “6” sends “"6"”']),
        ({"enum": [1, "1"]}, ["A  “1”", 'B  “1” sends “"1"”']),
        (
            {"oneOf": [{"title": "Yes", "const": 1}, {"title": "Yes", "const": 2}]},
            ["A  “Yes” sends “1”", "B  “Yes” sends “2”"],
        ),
    ],
)
def test_an_answer_shows_what_it_stands_for(schema: dict[str, Any], lines: list[str]) -> None:
    """Given answers, some of which mean another value; then the card lists all with
    their letters, and each button has the letter of its answer."""
    title, *listed = answers(schema)

    assert title == "The answers:"
    assert listed == lines
    assert [label[0] for label in labels(schema)] == ["A", "B"]


def test_what_a_phone_cuts_is_listed_in_full() -> None:
    """Given two answers that begin alike and a third, all below the limit of a
    card; then the card has each whole, with a letter; the buttons that a phone would cut to the same words
    have the letter only."""
    schema = {"enum": [TO_THE_CARD, TO_A_SUPPLIER, "Refund nothing, and close the case for good"]}

    assert answers(schema)[1:3] == [f"A  “{TO_THE_CARD}”", f"B  “{TO_A_SUPPLIER}”"]
    assert labels(schema) == ["A", "B", "C · “Refund nothing, and clo…”"]
    first, *_ = question(schema).buttons
    assert first.spoken == f"A “{TO_THE_CARD}”"


def test_wide_letters_take_the_room_of_two() -> None:
    """Given an answer of 16 Chinese or Japanese characters, of which a phone
    shows 15; then it is listed."""
    assert answers({"enum": ["顧客のカードに全額を返金します", "いいえ"]})


def test_the_list_is_above_the_buttons() -> None:
    review = asking({"enum": [TO_THE_CARD, TO_A_SUPPLIER]})
    drawn = to_text(message(build_card(review, DEFAULT_PLACE), name_of)["blocks"])
    assert drawn.index(TO_A_SUPPLIER) < drawn.index("[A]")


def test_a_long_answer_is_whole_above_its_button() -> None:
    long = "Refund everything but the postage, " * 3 + "to the account of the supplier"
    assert answers({"enum": [long, "No"]})[1] == f"A  “{long}”"


def test_answers_that_no_list_can_tell_apart_have_no_buttons() -> None:
    """Given two answers that differ only where both are cut, even in the list; then
    a form asks."""
    first, second = ("x" * 500 + middle + "y" * 500 for middle in "12")
    config = ReviewConfig(
        action_name="t", allowed_decisions=("respond",), answer_schema={"enum": [first, second]}
    )
    assert choices_of(config) == ()


def test_a_confirmation_names_the_answer() -> None:
    """Given a tool that runs with the answer, and a policy that wants a
    confirmation; then it says which answer was pressed."""
    review = asking({"enum": ["EUR", "USD"]}, "approve", "reject")
    [action] = review.actions
    config = action.config.model_copy(update={"confirm": True})
    asked = review.model_copy(update={"actions": (action.model_copy(update={"config": config}),)})
    [shown] = build_card(asked, DEFAULT_PLACE).open_actions
    first, *_ = action_text(asked.id, shown, PlaceNames(name_of)).buttons

    assert first.confirmation is not None
    assert first.confirmation.text.startswith("“EUR”, about: order 1042")


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": ["Pay p\u0430yp\u0430l.com", "No"]},
        {"oneOf": [{"title": "Yes", "const": "https://good.example@evil.example"}, {"const": 1}]},
    ],
)
def test_what_is_odd_in_an_answer_is_warned_about(schema: dict[str, Any]) -> None:
    """Given an answer in look-alike letters, or with a value whose host reads like
    another; then the card warns about it by its label."""
    (warning, *_) = map(plain_text, question(schema).warnings)
    assert warning.startswith("⚠ The answer “")


@given(st.lists(st.text(min_size=1, max_size=90), min_size=2, max_size=5, unique=True))
def test_a_button_never_says_more_or_other_than_its_list(values: list[str]) -> None:
    """Given any answers; then what a phone shows of their buttons is different for each, or the list tells
    them apart, and a screen reader's label has what is seen."""
    text = question({"enum": values})
    buttons = [one for one in text.buttons if one.verb == "answer"]
    seen = [one.label[:SEEN] for one in buttons]
    listed = [plain_text(line) for line in text.answers]

    assert len({*seen}) == len(seen)
    assert len({*listed}) == len(listed)
    assert all(one.spoken.startswith(one.label) for one in buttons)
    assert all(len(one.label) <= SEEN for one in buttons)


def test_an_option_of_a_form_shows_its_value_too() -> None:
    """Given more answers than there are buttons for, named by the agent; then the
    form that asks shows what each sends."""
    schema = {"oneOf": [{"title": f"Refund {n} %", "const": {"amount": n}} for n in range(6)]}
    review = asking(schema)
    ref = FormRef("respond", ActionRef(review.id, "1", 1))
    [field] = AnswerForm(review, review.actions[0], ref, MODAL_LIMITS).page().fields

    assert field.field.options[3].label == 'Refund 3 % → {"amount": 3}'


def test_choices_of_which_only_the_length_of_the_cut_differs_are_answered_in_a_form() -> None:
    """Given two long answers with the same beginning and end, and parts of other lengths between them, which
    are cut; then they have no buttons: only the number of missing characters would tell them apart."""
    same = "Send it to the customer. " * 40
    values = [f"{same}Pay nothing.{same}", f"{same}Pay 10,000 EUR.{same}"]
    config = ReviewConfig(
        action_name="t", allowed_decisions=("respond",), answer_schema={"enum": values}
    )
    assert choices_of(config) == ()
