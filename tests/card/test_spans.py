"""Lines of spans: as plain text, and joined."""

from __future__ import annotations

from typing import get_args

import pytest

from bot.card import (
    Code,
    Emphasis,
    Group,
    Line,
    Link,
    Person,
    PlaceName,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Time,
    Verbatim,
    plain_text,
)
from bot.card.model.spans import join_lines
from hitl_core.model import Place
from hitl_core.sentences import join_names

PLAIN: list[tuple[Span, str]] = [
    (Text("our words"), "our words"),
    (Strong("strong"), "strong"),
    (Emphasis("emphasis"), "emphasis"),
    (Struck("old"), "old"),
    (Code("run_sql"), "run_sql"),
    (Verbatim("*as* <it> is"), "*as* <it> is"),
    (Quote("I say “yes”"), '“I say "yes"”'),
    (Person("U0ALICE", "Alice Ng", "slack"), "Alice Ng"),
    (Group("S0OPS", "S0OPS", "slack"), "S0OPS"),
    (PlaceName(Place("slack:#ops"), "#ops"), "#ops"),
    (Time(1_800_000_000.5), "2027-01-15 08:00 UTC"),
    (Link("open its card", "https://chat.example/1"), "open its card"),
]


@pytest.mark.parametrize(("span", "text"), PLAIN, ids=[type(span).__name__ for span, _ in PLAIN])
def test_every_kind_of_span_has_a_plain_text(span: Span, text: str) -> None:
    assert plain_text([span]) == text


def test_the_table_above_has_every_kind_of_span() -> None:
    assert {type(span) for span, _ in PLAIN} == {*get_args(Span)}


@pytest.mark.parametrize(
    ("count", "joined"),
    [
        (0, ""),
        (1, "n0"),
        (2, "n0 or n1"),
        (3, "n0, n1 or n2"),
        (4, "n0, n1 or 2 more"),
        (100, "n0, n1 or 98 more"),
    ],
)
def test_lists_of_names_and_of_lines_are_joined_alike(count: int, joined: str) -> None:
    """Given any number of names, then a list names at most three, and says how many more there are."""
    names = [f"n{at}" for at in range(count)]
    lines: list[Line] = [(Verbatim(name),) for name in names]

    assert join_names(names, "or", most=3) == joined
    assert plain_text(join_lines(lines, "or", most=3)) == joined
