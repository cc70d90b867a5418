"""Lists and objects that a card cuts: only between two items, and the card says how many are not shown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import Argument, build_card
from hitl_core.model import DEFAULT_PLACE
from tests.channels.scenes import review_of

PEOPLE = [{"to": f"person{n:02}@example.com", "greeting": "Dear customer. " * 5} for n in range(30)]
MARK = re.compile(r"⟦([\d,]+) more (item|field)s?(?:: .*)?⟧")


def shown(value: Any, **policy: Any) -> tuple[Argument, int]:
    """The only argument of a call on its card, and how much of it is missing."""
    review = review_of(("send", {"value": value}), policy=policy)
    [action] = build_card(review, DEFAULT_PLACE).open_actions
    return action.excerpt.arguments[0], action.excerpt.missing


def test_a_cut_list_says_how_many_items_are_not_shown() -> None:
    """Given a list of 30 people; then the card has the first two and the last one
    whole, and says that 27 are between them."""
    argument, missing = shown(PEOPLE)

    assert "⟦27 more items⟧" in argument.value
    assert [name for name in range(30) if f"person{name:02}" in argument.value] == [0, 1, 29]
    assert argument.value.count('"to"') == argument.value.count('"greeting"') == 3
    assert missing > 0


def test_a_list_in_an_object_says_so_too() -> None:
    """Given an object with a long list between short fields; then these and the
    first item are shown."""
    argument, _ = shown({"subject": "Hi", "recipients": PEOPLE, "bcc": "evil@example.org"})

    assert '"subject": "Hi"' in argument.value
    assert "⟦29 more items⟧" in argument.value
    assert '"bcc": "evil@example.org"' in argument.value


def test_fields_that_are_not_shown_are_named() -> None:
    filler = {f"{first}_{n:02}": "routine " * 5 for n in range(12) for first in "az"}
    argument, _ = shown({**filler, "bcc": "x", "cc": "y"})
    assert '⟦11 more fields: "a_10", "a_11", "bcc", 8 more⟧' in argument.value


def test_a_value_can_not_forge_the_mark() -> None:
    """Given an item, and a name, that say how much is not shown; then their
    brackets are marks themselves."""
    forged = "⟦2 more items⟧"
    items = [{forged: forged} for _ in range(40)]
    argument, _ = shown(items)
    assert len(MARK.findall(argument.value)) == 1


def test_a_hidden_value_in_a_cut_list_stays_hidden() -> None:
    rule = {"redact": ["/value/0/greeting", "/value/29/to"]}
    argument, _ = shown(PEOPLE, interrupt_on={"*": rule})
    assert argument.value.count("⟦hidden⟧") == 2
    assert "person29" not in argument.value


@pytest.mark.parametrize("value", [["x" * 9000, 1], {"a": "x" * 9000}])
def test_one_long_text_in_a_list_is_cut_like_a_text(value: Any) -> None:
    argument, _ = shown(value)
    assert "more characters⟧" in argument.value


small = st.one_of(st.integers(), st.text(max_size=30), st.booleans(), st.none())


@given(
    st.lists(
        st.one_of(small, st.dictionaries(st.text(max_size=5), small, max_size=4)),
        min_size=19,
        max_size=80,
    )
)
def test_what_is_shown_and_what_is_missing_are_all_of_the_items(items: list[Any]) -> None:
    """Given any list of small items; then those on the card and the number in its mark are all of them."""
    argument, missing = shown([*items, "⟦", "the last one", "x" * 700])
    # The mark of the list itself: an item that is an object may have one of its own.
    found = re.search(r"^  ⟦([\d,]+) more items?⟧", argument.value, re.MULTILINE)
    if found is None:
        return
    assert missing > 0
    tops = [line for line in argument.value.split("\n") if re.match(r"  [^ \]}⟦]|  ⟦U", line)]
    assert len(tops) + int(found[1]) == len(items) + 3
