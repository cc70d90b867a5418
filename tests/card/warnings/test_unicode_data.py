# ruff: noqa: RUF001
"""The tables come from Unicode's data files, and agree with Python's `unicodedata`."""

from __future__ import annotations

import unicodedata

import pytest

from bot.card.warnings.unicode_data import (
    latin_like_scripts,
    looks_like,
    read_word,
    reads_as,
    script_of,
    tables,
)


@pytest.mark.parametrize(
    ("chars", "script"),
    [
        ("aé", "Latin"),
        ("жЖ", "Cyrillic"),
        ("Ω", "Greek"),
        ("ש", "Hebrew"),
        ("٥", "Arabic"),
        ("日", "Han"),
        ("1×ー\u0301\U0010ffff", ""),
    ],
)
def test_a_letter_has_a_script(chars: str, script: str) -> None:
    assert {script_of(char) for char in chars} == {script}


def test_most_letters_have_the_script_that_their_name_begins_with() -> None:
    names = [(c, unicodedata.name(c, "")) for c in map(chr, range(0x30000))]
    scripts = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "HEBREW", "DEVANAGARI", "THAI", "HANGUL")
    letters = [
        (script_of(c).upper(), name.split()[0])
        for c, name in names
        if name.split(" ")[0] in scripts and unicodedata.category(c)[0] == "L"
    ]
    assert len(letters) > 10_000
    assert len([one for one in letters if one[0] != one[1]]) < 20


def test_what_looks_like_a_letter_is_known() -> None:
    assert [looks_like(c) for c in "аοⅼａ𝐚∕․жЖ"] == [*"aolaa/.", "", ""]
    assert [reads_as(c) for c in "кж"] == ["k", ""]
    assert (read_word("раура1"), read_word("рыба")) == ("paypa1", "")


def test_no_table_repeats_what_python_knows() -> None:
    """Given a character that Unicode decomposes to ASCII, then it isn't in the table as well."""
    assert [c for c in tables().looks if unicodedata.normalize("NFKC", c).isascii()] == []
    assert all(looks.isascii() for looks in tables().looks.values())


def test_scripts_that_look_like_latin_are_found_by_counting() -> None:
    assert {"Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu"} <= latin_like_scripts()
    assert latin_like_scripts().isdisjoint(
        {"Latin", "Arabic", "Hebrew", "Han", "Thai", "Devanagari"}
    )
