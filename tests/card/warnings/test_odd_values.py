# ruff: noqa: RUF001
"""A card counts odd values, names them before the buttons, and has no green Approve then."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import (
    action_text,
    argument_head,
    build_card,
    card_buttons,
    card_text,
    name_and_arguments,
    plain_text,
)
from bot.channels.slack.modals.arguments_modal import split_arguments
from bot.channels.slack.render import place_names
from bot.channels.slack.render.card_message import message
from tests.channels.scenes import DEFAULT, name_of, review_of

NAMES = place_names(name_of)
ODD = {"to": "jo@p\u0430ypal.com", "amount": "\U0001d7cf\U0001d7d0\U0001d7ce.00"}


def card_of(*calls: tuple[str, dict[str, Any]], **policy: Any):
    return build_card(review_of(*calls, policy=policy), DEFAULT)


def test_odd_values_are_counted_and_named_before_the_buttons() -> None:
    """Given a call with two odd values, then the card counts them at its top, and the
    action names both."""
    card = card_of(("pay", ODD))
    text = action_text(card.review_id, card.open_actions[0], NAMES)

    assert plain_text(card_text(card, NAMES).warnings[0]) == "⚠ 2 odd values below"
    assert [plain_text(line) for line in text.warnings] == [
        "⚠ “amount” contains a part that is not 120: it has mathematical forms of letters or digits.",
        "⚠ “to” is not jo@paypal.com: it has Cyrillic letters (xn--pypal-4ve.com).",
    ]
    kinds = [block["type"] for block in message(card, name_of)["blocks"]]
    drawn = [str(block) for block in message(card, name_of)["blocks"]]
    first_button = kinds.index("actions")
    assert any("“amount”" in one or "it has mathematical" in one for one in drawn[:first_button])


@pytest.mark.parametrize(("args", "style"), [(ODD, None), ({"to": "jo@example.com"}, "positive")])
def test_only_what_has_no_odd_value_is_approved_in_green(
    args: dict[str, str], style: str | None
) -> None:
    card = card_of(("pay", args))

    approve, *_ = action_text(card.review_id, card.open_actions[0], NAMES).buttons

    assert (approve.verb, approve.style) == ("approve", style)


def test_a_confirmation_begins_with_what_is_odd_and_is_not_green() -> None:
    card = card_of(("pay", ODD), interrupt_on={"*": {"confirm": True}})

    approve, *_ = action_text(card.review_id, card.open_actions[0], NAMES).buttons

    assert approve.confirmation is not None
    assert approve.confirmation.text.startswith("⚠ 2 odd values. ")
    assert approve.confirmation.style == "destructive"


@pytest.mark.parametrize("count", [3, 12])
def test_approve_all_is_not_offered_where_a_value_is_odd(count: int) -> None:
    """Given many actions, of which one has odd values, then each is decided by itself."""
    card = card_of(("pay", ODD), *[("look", {"n": n}) for n in range(count)])

    buttons = card_buttons(card, layout="full" if card.open_actions else "table")

    assert "approve_all" not in [one.verb for one in buttons]


def test_a_list_says_which_line_has_odd_values() -> None:
    card = card_of(("pay", ODD), *[("look", {"n": n}) for n in range(40)])
    drawn = str(message(card, name_of)["blocks"])

    assert "⚠ 2 odd values in #1" in drawn
    assert drawn.count("⚠ 2 odd values'") + drawn.count("⚠ 2 odd values ") == 2


def test_honest_values_are_not_counted() -> None:
    card = card_of(("pay", {"to": "Дмитрий <jo@example.com>", "note": "¡Hola! 你好，世界"}))

    assert card.open_actions[0].warnings == ()
    assert card_text(card, NAMES).warnings == ()


def test_each_argument_on_a_page_has_its_warnings_above_it() -> None:
    """Given a call with odd values in its arguments, in their names and in its
    reason; then the page with all of it has each warning directly above what it is about, in the words of the
    card."""
    args = {"note": "fine", "to": "jo@p\u0430ypal.com", "in": {"b\u200b": "c", "d": "x"}}
    review = review_of(("pay", args), reason="As \u202eagreed")
    card = build_card(review, DEFAULT)
    on_card = {plain_text(line) for line in card.open_actions[0].warnings}
    _, arguments = name_and_arguments(review, "1")

    heads = {one.label: plain_text(argument_head(one)).split("\n") for one in arguments}
    assert heads["note"] == ["note  fine"]
    assert (
        heads["to"][0]
        == "⚠ “to” is not jo@paypal.com: it has Cyrillic letters (xn--pypal-4ve.com)."
    )
    assert heads["to"][1].startswith("to")
    (said,) = (head for label, head in heads.items() if label.startswith("Not an argument"))
    assert said[0].startswith("⚠ The agent's reason ")
    shown = {line.removeprefix("⚠ ") for head in heads.values() for line in head if "⚠" in line}
    assert shown == on_card


def test_a_very_long_name_has_its_warning_on_the_page() -> None:
    _, arguments = name_and_arguments(review_of(("pay", {"\u0430" * 300: "paypal\u200b"})), "1")
    [parts] = split_arguments(arguments)
    assert "⚠" in str(parts[0])
