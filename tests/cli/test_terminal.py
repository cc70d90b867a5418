"""Text for terminals: its width, its line breaks, and which characters are made visible."""

from __future__ import annotations

import pytest

from hitl_core.cli.terminal import clean, display_width, shorten, wrap_text


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("\uff57", 2)]
)
def test_columns(text: str, columns: int) -> None:
    assert display_width(text) == columns


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("", 5, [""]),
        ("abcde", 5, ["abcde"]),
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij k", 5, ["abcde", "fghij", "k"]),
        ("日本語", 5, ["日本", "語"]),
    ],
)
def test_folded_by_word(text: str, room: int, lines: list[str]) -> None:
    assert wrap_text(text, room, True) == lines


def test_folded_exactly_loses_nothing() -> None:
    text = "rm -rf /  tmp 日本 " * 20
    lines = wrap_text(text, 9, False)
    assert "".join(lines) == text
    assert max(map(display_width, lines)) <= 9


@pytest.mark.parametrize(
    ("text", "room", "short"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 4, "日…")]
)
def test_shortened(text: str, room: int, short: str) -> None:
    assert shorten(text, room) == short


@pytest.mark.parametrize(
    "char",
    "\x1b\x07\x7f\x85\x9b\r\n\t\xa0\xad\u200b\u202e\u2066\u2028\u3164\ufe0f\u0336\u20dd\ue000\U000e0041",
)
def test_what_would_not_be_seen_becomes_an_escape(char: str) -> None:
    assert clean(f"a{char}b") == f"a{char.encode('unicode_escape').decode()}b"


@pytest.mark.parametrize("text", ["plain", "é e\u0301", "日本語", "नमस्ते", "שלום", "≠ ✓ 🙂"])
def test_what_people_write_stays(text: str) -> None:
    assert clean(text) == text
