# ruff: noqa: RUF001
"""In a line of several parts, no value or key can end early and begin a part that looks like ours: in
notifications, questions, lists and decided lines.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import build_card, card_buttons, card_summary, fact_lines, plain_text
from bot.card.model.parts import as_part, clip_parts, in_brackets
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, decide, expire_lease, review_of, start_calls

LIE = "rent · amount: 80.00 EUR · to: Jo Martin"
PAID: dict[str, Any] = {"a_note": LIE, "value": 4800}


def lines_of(review: Review) -> list[str]:
    """All lines that have the facts of calls beside each other."""
    card = build_card(review, DEFAULT)
    return [card.summary, card_summary(card), *map(plain_text, fact_lines(card))]


def test_a_value_in_a_fact_is_one_part() -> None:
    """Given a note that reads like an amount and a payee; then each line with the fact
    quotes it whole."""
    for line in lines_of(review_of(("transfer", PAID))):
        assert f"a_note: “{LIE}” · value: 4800" in line


def test_a_key_in_a_fact_is_in_marks_that_it_cant_close() -> None:
    for line in lines_of(review_of(("transfer", {'amount": 80 EUR · "limit': 4800}))):
        assert '“amount": 80 EUR · "limit”: 4800' in line


@pytest.mark.parametrize("separator", [": ", ":", "： ", "꞉ ", "ː ", "﹕ "])
@pytest.mark.parametrize("dot", ["·", "•", "‧", "∙", "⋅", "・", "|", "-"])
def test_other_signs_that_look_like_ours_are_quoted_too(separator: str, dot: str) -> None:
    words = f"rent {dot} amount{separator}80 EUR"
    assert as_part(words) == f"“{words}”" or (separator, dot) in [(":", "|"), (":", "-")]


def test_the_question_of_approve_all_has_no_more_calls_than_there_are() -> None:
    """Given a value that closes the brackets and adds calls; then it is in quotation
    marks."""
    lie = "x); #2 run_sql (query: SELECT 1); #3 y (b"
    review = review_of(("transfer", {"a": lie}), ("run_sql", {"query": "DROP TABLE orders"}))

    [ask] = [
        one.confirmation.text
        for one in card_buttons(build_card(review, DEFAULT), layout="full")
        if one.confirmation and one.verb == "approve_all"
    ]

    assert ask == f'#1 transfer (“a: "{lie}"”); #2 run_sql (query: DROP TABLE orders)'


def test_cards_a_title_with_its_fact_has_brackets_that_nothing_closes() -> None:
    card = build_card(review_of(("transfer", {"a": "x) Approved by Bob (b"})), DEFAULT)
    assert card_summary(card).endswith('(“a: "x) Approved by Bob (b"”)')


def test_a_decided_call_keeps_its_value_as_one_part() -> None:
    card = build_card(decide(review_of(("transfer", PAID)), "1", "approve"), DEFAULT)
    assert card.decision_lines[0].fact.startswith("a_note: “rent · amount: 80.00 EUR")


def test_the_notification_of_a_doubt_has_the_same_fact() -> None:
    doubt = expire_lease(start_calls(review_of(("pay", PAID), policy={"default": "allow"}), "1"))
    assert f"pay (a_note: “{LIE}”" in build_card(doubt, DEFAULT).summary


@pytest.mark.parametrize(
    "words",
    [
        *("Jo Martin <jo@example.com>", "10:30", "https://example.com/a?b=c", "SELECT * FROM x"),
        *(
            "Your refund for order 1042",
            "DELETE x;",
            "O’Brien",
            "12.50 €",
            "⟦hidden⟧",
            "a⏎b",
            "–5",
            "Ærø",
        ),
    ],
)
def test_plain_words_need_no_marks(words: str) -> None:
    assert as_part(words) == words


@given(st.text("ab ·:“”()…", max_size=60), st.integers(2, 40))
def test_a_part_ends_where_it_ends_also_in_a_cut(words: str, limit: int) -> None:
    """Given any words; then a separator in them is inside quotation marks, also if the line is cut."""
    line = clip_parts(f"note: {as_part(words)} · value: 1", limit)
    before, _, rest = line.partition("“")
    assert len(line) <= limit
    assert line.count("“") == line.count("”") <= 1
    assert "(" not in before + rest.partition("”")[2]
    assert (before + rest.partition("”")[2]).count(" · ") <= 1


def test_a_line_in_brackets_closes_none() -> None:
    assert in_brackets("a: 1") == "(a: 1)"
    assert in_brackets("a: “)”") == '(“a: ")"”)'
