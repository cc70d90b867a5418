"""Nothing is approved unseen: what a card cuts can be approved only after all of it was read."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import (
    Button,
    Card,
    Layout,
    PlaceNames,
    action_text,
    build_card,
    card_buttons,
    plain_text,
)
from bot.card.model.layout import incomplete_actions
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, name_of, review_of

LONG = "The customer agreed to this.\n" * 200
STATEMENT = f"{LONG}Pay 90,000 EUR to evil@example.org.\n{LONG}"
FILLED: dict[str, Any] = {
    **{f"a_note_{n:02}": "routine" for n in range(20)},
    "bcc": "evil@example.org",
}
PEOPLE = [f"person{n}@example.com" for n in range(30)]


def must_read(review_call: tuple[str, dict[str, Any]], **rule: Any) -> Review:
    return review_of(review_call, policy={"interrupt_on": {"*": {"must_read": True, **rule}}})


def buttons_of(card: Card) -> list[Button]:
    [action] = card.open_actions
    return list(action_text(card.review_id, action, PlaceNames(name_of)).buttons)


def notes_of(card: Card) -> str:
    [action] = card.open_actions
    text = action_text(card.review_id, action, PlaceNames(name_of))
    return "\n".join(map(plain_text, text.notes))


def approves_all(review: Review, layout: Layout = "full") -> Button | None:
    buttons = card_buttons(build_card(review, DEFAULT), layout=layout)
    return next((one for one in buttons if one.verb == "approve_all"), None)


@pytest.mark.parametrize(
    "args",
    [{"body": STATEMENT}, FILLED, {"to": [{"mail": one, "why": LONG[:80]} for one in PEOPLE]}],
)
def test_cards_what_is_cut_has_no_approve_on_the_card(args: dict[str, Any]) -> None:
    """Fool 5: given what matters in the part that is cut; then no button approves it from the card: the
    first one opens all of it, and says so."""
    card = build_card(must_read(("send_email", args)), DEFAULT)

    buttons = buttons_of(card)

    assert [(one.label, one.verb) for one in buttons] == [
        ("Read all, then approve", "see"),
        ("Edit", "edit"),
        ("Reject", "reject"),
    ]
    assert buttons[0].style == "positive"


def test_cards_a_card_names_what_it_does_not_show() -> None:
    """Fool 5: given a `bcc` behind 20 others; then the card names it."""
    card = build_card(must_read(("send_email", FILLED)), DEFAULT)

    assert "✂ Not shown here: “bcc” (" in notes_of(card)


def test_cards_a_card_names_what_it_shows_in_part() -> None:
    card = build_card(
        must_read(("send_email", {"to": "jo@example.com", "body": STATEMENT})), DEFAULT
    )

    assert "✂ Not shown here: parts of “body” (" in notes_of(card)


def test_cards_without_must_read_a_cut_is_told_and_approved() -> None:
    """Given `must_read: false`; then Approve is there, and "See all of it"."""
    card = build_card(must_read(("send_email", {"body": STATEMENT}), must_read=False), DEFAULT)

    assert [one.label for one in buttons_of(card)] == ["Approve", "Edit", "Reject", "See all of it"]
    assert "Press See all of it before you decide." in notes_of(card)


SHORT = ("send_email", {"to": "jo@example.com"})


@pytest.mark.parametrize(
    ("calls", "rule"),
    [
        ([SHORT, ("send_email", {"body": STATEMENT})], {}),
        ([SHORT, ("pay", {"to": "j\u043e@example.com"})], {}),
        ([SHORT, ("pay", {"to": "max@example.com"})], {"confirm": True}),
    ],
    ids=["cut", "odd", "confirm"],
)
def test_cards_approve_all_is_not_offered_where_one_needs_a_look(
    calls: list[tuple[str, dict[str, Any]]], rule: dict[str, Any]
) -> None:
    """Fool 4: given one action that is cut, warned about, or marked `confirm`; then there is no Approve
    all."""
    review = review_of(*calls, policy={"interrupt_on": {"*": {"must_read": True, **rule}}})

    assert approves_all(review) is None
    assert approves_all(review_of(SHORT, ("pay", {"to": "max@example.com"}))) is not None


def test_cards_approve_all_always_asks() -> None:
    """Fool 4: given two harmless actions; then Approve all asks, and says what is approved."""
    button = approves_all(review_of(SHORT, ("pay", {"to": "max@example.com"})))

    assert button is not None
    assert button.confirmation is not None
    assert (
        button.confirmation.text
        == "#1 send_email (to: jo@example.com); #2 pay (to: max@example.com)"
    )


def test_cards_a_row_that_shows_all_arguments_is_not_cut() -> None:
    """Given twelve actions in a table, of which one has a text that does not fit into its row; then only this
    one is cut, and Approve all is not offered. Without it, it is."""
    short = [("close_ticket", {"ticket": n, "status": "done"}) for n in range(1, 12)]
    rule = {"interrupt_on": {"*": {"must_read": True}}}
    cut = review_of(*short, ("close_ticket", {"ticket": 99, "status": STATEMENT}), policy=rule)
    whole = review_of(*short, ("close_ticket", {"ticket": 99, "status": "done"}), policy=rule)

    assert incomplete_actions(build_card(cut, DEFAULT), "table") == {"12"}
    assert incomplete_actions(build_card(whole, DEFAULT), "table") == frozenset()
    assert approves_all(cut, "table") is None
    assert approves_all(whole, "table") is not None
    assert approves_all(whole, "lines") is None
