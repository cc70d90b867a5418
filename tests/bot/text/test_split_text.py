"""Long texts are split into pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text import split_text, to_visible


def test_a_page_ends_between_paragraphs_then_lines_then_words() -> None:
    paragraph, line = "word " * 11 + "end.\n\n", "word " * 13 + "end.\n"
    assert {each[-2:] for each in split_text(paragraph * 9, 100)[:-1]} == {"\n\n"}
    assert {each[-5:] for each in split_text(line * 9, 100)[:-1]} == {"end.\n"}
    assert {each[-1] for each in split_text("word " * 99, 102)[:-1]} == {" "}


@pytest.mark.parametrize("limit", range(20, 60))
def test_no_page_ends_within_a_mark_or_a_letter(limit: int) -> None:
    """Given marks of invisible characters and of spaces, and letters with accents, then
    each is whole."""
    text = to_visible("a\u202e" * 30 + "x" + " " * 60 + "y" + "e\u0301" * 50)
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert all(len(each) <= limit for each in pieces)
    assert all(each.count("⟦") == each.count("⟧") for each in pieces)
    assert not any(each.startswith("\u0301") for each in pieces)


@given(st.text(alphabet="a ⟦⟧U+202E\n\u0301", max_size=400), st.integers(1, 50))
def test_the_pages_are_the_text(text: str, limit: int) -> None:
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert all(0 < len(each) <= limit for each in pieces[:-1])
