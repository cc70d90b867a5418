"""Characters that hide, reorder, pad or format text are made visible (Trojan Source, CVE-2021-42574)."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import text
from bot.card.arguments.value_text import format_value
from bot.card.model.spans import plain_text
from bot.card.warnings import find_text
from tests.channels.reading import value_of

#: Bidirectional controls, all of them.
BIDI = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C]
#: Zero width, fillers, blanks, tags, variation selectors, controls, private use, overlays.
HIDDEN = [
    *(0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x2800, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x180B, 0x180E),
    *range(0x200B, 0x200E),
    *range(0x2028, 0x202A),
    *range(0x2060, 0x2066),
    *range(0x206A, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xFFF9, 0xFFFC),
    *(0x13441, 0x13442, 0x16FE4, 0x1D159, 0xE000, 0x10FFFD, 0xFDD0),
    *range(0x1D173, 0x1D17B),
    *(0xE0001, *range(0xE0020, 0xE0030), 0xE007F, 0xE0100, 0xE01EF),
    *range(0x00, 0x09),
    *range(0x0B, 0x20),
    *range(0x7F, 0xA1),
    *(0x1680, 0x2000, 0x2007, 0x200A, 0x202F, 0x205F, 0x3000),
    *(0x0334, 0x0336, 0x0338, 0x20DD, 0x20E3),
]


def find_warning(words: str) -> str | None:
    """The words of the first warning about a text."""
    return next((plain_text(odd.words) for odd in find_text(words)), None)


@pytest.mark.parametrize("code", BIDI + HIDDEN, ids="U+{:04X}".format)
@pytest.mark.parametrize("where", ["{}word", "wo{}rd", "word{}", "{}"])
def test_promise_8_a_character_that_hides_is_shown_by_its_number(code: int, where: str) -> None:
    """Given such a character anywhere in a text, then it is shown as ⟦U+XXXX⟧, and nowhere raw."""
    char = chr(code)
    for show in (text.to_visible, text.one_line, text.add_marks):
        shown = show(where.format(char))
        assert char not in shown
        assert shown == where.format(f"⟦U+{code:04X}⟧")
    assert text.remove_marks(text.add_marks(where.format(char))) == where.format(char)


@pytest.mark.parametrize("code", BIDI, ids="U+{:04X}".format)
def test_promise_8_what_reorders_is_warned_about(code: int) -> None:
    assert "order" in (find_warning(f"a{chr(code)}b") or "")


@pytest.mark.parametrize("code", HIDDEN, ids="U+{:04X}".format)
def test_promise_8_what_hides_is_warned_about(code: int) -> None:
    assert "invisible" in (find_warning(f"a{chr(code)}b") or "")


@pytest.mark.parametrize(
    "plain",
    [
        "Grüße, Łódź, naïve",
        "日本語 テスト",
        "Привет",
        "שלום",
        "สวัสดี",
        "नमस्ते",
        "Tiếng Việt",
        "✈\ufe0f 🎉 😀",
        "a\tb\nc",
        "12,50 €",
        "line\r\nline",
    ],
)
def test_ordinary_text_of_any_script_stays_as_it_is(plain: str) -> None:
    assert find_warning(plain) is None
    assert text.add_marks(plain).replace("⟦U+000D⟧", "\r") == plain


@pytest.mark.parametrize(
    "words", ["caf\u00e9", "\u00c5ngstr\u00f6m", "\u1ec7", "\ud55c\uad6d", "\u03a9"]
)
def test_what_looks_like_another_text_is_warned_about(words: str) -> None:
    """Given a text and the same in another of Unicode's forms, which look alike (NFC
    and NFD); then one at least is warned about, in a value, a key, an address or a name."""
    other = unicodedata.normalize("NFD", words)
    if other != words:
        for one in (other, f"pay {other}", f"{other}@example.com", f"#{other}"):
            assert find_warning(one) is not None
    assert find_warning("\u212b") is not None
    assert find_warning("\u2126") is not None
    assert find_warning(words) is None


CONFUSABLE = "аеорсухіјѕԁһԛԝАВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυ"  # noqa: RUF001


@pytest.mark.parametrize("letter", CONFUSABLE)
def test_promise_8_a_letter_of_another_alphabet_in_a_word_is_warned_about(letter: str) -> None:
    """Given a Cyrillic or Greek look-alike within a Latin word, then it is told."""
    assert "Latin" in (find_warning(f"pay to bank-{letter}xample") or "")


@pytest.mark.parametrize(
    "word", ["Слово", "ΑΒΓ αλφα", "Δt", "µm", "Ωhm", "日本go", "café", "Москва 7"]
)
def test_words_of_one_alphabet_are_not_warned_about(word: str) -> None:
    assert find_warning(word) is None


@pytest.mark.parametrize(
    ("padded", "shown"),
    [
        ("ls" + "\n" * 5000 + ";rm -rf /", "ls⟦5,000 line breaks⟧;rm -rf /"),
        ("ls" + " " * 5000 + ";rm -rf /", "ls⟦5,000 spaces⟧;rm -rf /"),
        ("ls" + "\t" * 300 + ";rm -rf /", "ls⟦300 tabs⟧;rm -rf /"),
        ("ls\n" + " " * 90 + ";rm -rf /", "ls⟦1 line break, 90 spaces⟧;rm -rf /"),
        ("a\n\nb    c", "a\n\nb    c"),
    ],
)
def test_promise_8_padding_pushes_nothing_out_of_sight(padded: str, shown: str) -> None:
    assert text.to_visible(padded) == shown


def test_promise_8_padding_that_mixes_is_cut_with_its_end_in_sight() -> None:
    """Given blank lines of changing width, then the text behind them is on the card too."""
    padded = "ls" + "".join("\n" + " " * (n % 7) for n in range(5000)) + ";rm -rf /"
    shown = text.truncate(text.to_visible(padded), 1200)
    assert shown.text.endswith(";rm -rf /")
    assert shown.text.count("\n") < 30
    assert f"⟦{shown.missing:,} more characters⟧" in shown.text


@pytest.mark.parametrize(
    ("edged", "shown"),
    [
        ("Hi Jo,\n\nbye ", "Hi Jo,\n\nbye␠"),
        ("Hi Jo,  \nbye\n", "Hi Jo,⟦2 spaces⟧\nbye⏎"),
        ("one\n\n", "one\n⏎"),
        ("\tcode\t", "⇥code⇥"),
        ("a \r\n", "a ␍⏎"),
        ("a\n  b", "a\n  b"),
    ],
)
def test_promise_8_what_stands_at_an_edge_is_seen(edged: str, shown: str) -> None:
    """Given blanks at the start or the end of a line, then each has a sign, and the text keeps its lines."""
    assert text.to_visible(format_value(edged)) == shown


#: What is easily taken for something else.
ALIKE = (
    "a",
    '"',
    "42",
    "null",
    "{}",
    " ",
    "\t",
    "\n",
    "\r",
    "␠",
    "⏎",
    "⇥",
    "␍",
    "⟦",
    "⟧",
    "5 spaces",
)
alike = st.lists(st.sampled_from((*ALIKE, " " * 5, " " * 50, "\n" * 4)), max_size=8).map("".join)


@given(alike | st.text(st.characters(exclude_categories=["Cs"])))
def test_promise_8_what_was_meant_can_be_told_from_what_is_shown(any_text: str) -> None:
    """Given any text, then it can be read back, so no two look alike; and no line ends in a blank."""
    shown = text.to_visible(format_value(any_text))
    assert value_of(shown) == any_text
    assert not any(line[-1:] in (" ", "\t") for line in shown.split("\n"))


@given(alike, alike)
def test_promise_8_two_texts_that_differ_never_look_alike(one: str, two: str) -> None:
    shown = [text.to_visible(format_value(each)) for each in (one, two)]
    assert (shown[0] == shown[1]) == (one == two)
    assert (text.one_line(one) == text.one_line(two)) == (one == two)


def test_ascii_text_of_several_lines_has_no_marks_and_controls_have_one() -> None:
    """Given text that the quick check reads, and each ASCII character in it; then only the controls, which
    nobody sees, become marks."""
    marked = [
        chr(code) for code in range(128) if "⟦" in text.add_marks(f"A line\n\tof {chr(code)} text.")
    ]
    assert marked == [chr(code) for code in (*range(9), *range(11, 32), 127)]


@pytest.mark.parametrize(
    "forged", ["␠", "⟦U+202E⟧", "⟦12 more characters⟧", "⟦9 spaces⟧", "a⏎b", "⇥"]
)
def test_promise_8_no_text_can_forge_a_mark(forged: str) -> None:
    assert text.to_visible(forged) != forged
    assert text.remove_marks(text.add_marks(forged)) == forged


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_promise_8_marks_lose_nothing(any_text: str) -> None:
    assert text.remove_marks(text.add_marks(any_text)) == any_text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_promise_8_what_is_shown_holds_no_control_or_format_character(any_text: str) -> None:
    shown = text.to_visible(any_text)
    assert all(char in "\n\t" or unicodedata.category(char)[0] != "C" for char in shown)


@pytest.mark.parametrize("count", range(15, 30))
def test_promise_8_a_cut_leaves_something_out(count: int) -> None:
    """Given about as many lines as there is room for, then they are all there, or some are missing."""
    whole = "\n".join("x" * 40)[: 2 * count + 1]
    for cut in (text.truncate(whole, 1200), text.excerpt(whole, 1200)):
        assert (cut.missing > 0) == (cut.text != whole) == (count > 18)


@given(st.text(st.sampled_from("ab&<>\n"), max_size=2_000), st.integers(60, 1_200))
def test_a_cut_text_says_its_weight(whole: str, limit: int) -> None:
    """Given any text, cut or whole, then its weight is that of what is left of it."""
    for cut in (text.truncate(whole, limit), text.excerpt(whole, limit)):
        assert cut.weight == text.weight(cut.text)


@given(st.text(st.sampled_from("ab&<>\n"), max_size=60), st.integers(0, 60))
def test_a_start_is_as_long_as_it_fits(whole: str, limit: int) -> None:
    """Given any text, with and without entities, then it is whole, or one more character would not fit."""
    shown = text.fit(whole, limit)
    if text.weight(whole) <= limit:
        assert shown == whole
    else:
        start = shown.removesuffix("…")
        assert whole.startswith(start)
        assert text.weight(start) <= max(0, limit - 1) < text.weight(whole[: len(start) + 1])


@given(st.text(st.sampled_from("ab\n \u202e"), max_size=200), st.integers(1, 400))
def test_promise_8_an_excerpt_shows_both_ends_of_what_is_very_long(end: str, times: int) -> None:
    """Given a text too long to be looked at as a whole, then its beginning and its end are there, and how
    much is missing between them."""
    whole = f"start {'middle' * 2_100 * times}"[:250_000] + f"\u202e{end}x"
    cut = text.excerpt(whole, 1200)
    assert cut.text.startswith("start middle")
    assert cut.text.endswith("x")
    assert cut.missing > len(whole) - 1300
    assert f"⟦{cut.missing:,} more characters⟧" in cut.text


def test_what_is_surely_seen_is_seen() -> None:
    """Given the ranges that are not looked at one by one, then Unicode says of each of their characters
    that it is a letter, a mark that a letter can carry, or a sign."""
    every = [chr(code) for code in range(0x110000)]
    letters, marks, signs = (
        re.compile(f"[{each}]") for each in (text.LETTERS, text.MARKS, text.SIGNS)
    )
    assert all(unicodedata.category(c)[0] == "L" for c in every if letters.match(c))
    assert all(text.is_visible(c, f"a{c}", 1) for c in every if marks.match(c))
    assert all(c == " " or text.add_marks(c) == c for c in every if signs.match(c))
    assert all(text.is_visible(c, c, 0) for c in every if letters.match(c))


@given(st.text(st.sampled_from("a&<\n⟦⟧\u202e"), max_size=400), st.integers(40, 200))
def test_promise_8_a_cut_says_how_much_is_missing(any_text: str, limit: int) -> None:
    """Given any text, then beginning, count and end make up the whole, and no mark is cut in two."""
    shown = text.to_visible(any_text)
    cut = text.truncate(shown, limit)
    if cut.missing:
        assert text.weight(cut.text) <= limit + 40
        head, _, rest = cut.text.partition(f"⟦{cut.missing:,} more character")
        tail = rest[rest.index("⟧") + 1 :]
        between = "\n" if "\n" in head + tail else ""
        head, tail = head.removesuffix(between), tail.removeprefix(between)
        assert shown.startswith(head)
        assert shown.endswith(tail)
        assert len(head) + cut.missing + len(tail) == len(shown)
        assert head.count("⟦") == head.count("⟧")
        assert tail.count("⟦") == tail.count("⟧")
    else:
        assert cut.text == shown


#: The JSON of an object that is shown on several lines.
LONG = json.dumps({"name": "x" * 40, "more": "y" * 40}, separators=(",", ":"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        ("", '""'),
        ("42", '"42"'),
        (42, "42"),
        ("true", '"true"'),
        (True, "true"),
        ('"quoted"', '"\\"quoted\\""'),
        (" padded ", " padded "),
        ("   ", '"   "'),
        ("42 ", '"42 "'),
        ("{}", '"{}"'),
        ({}, "{}"),
        ([], "[]"),
        ('{"a":1}', '"{\\"a\\":1}"'),
        ("[\n1]", '"[\\n1]"'),
        (LONG, LONG),
        ({"a": 1}, '{"a": 1}'),
        (["vip"], '["vip"]'),
        (None, "null"),
        (1e30, "1e+30"),
    ],
)
def test_promise_8_text_is_never_taken_for_another_value(value: object, shown: str) -> None:
    assert format_value(value) == shown
