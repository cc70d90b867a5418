"""Unicode data about a character: its script, and what it looks like. Pure.

The tables come from Unicode Technical Standard 39 and are made by `tools/make_unicode_tables.py`.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Set
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("tables.txt")
#: Scripts that people mix with Latin in one word ("Highly Restrictive" in UTS 39, section 5.2).
EAST_ASIAN = frozenset({"Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"})
_NO_SCRIPT = frozenset({"Common", "Inherited", "Unknown"})
#: A script with at least this many letters that look like Latin ones can be mistaken for Latin in whole
#: words.
_MIN_LOOK_ALIKES = 10


class Tables(NamedTuple):
    """Ranges of scripts (first, last, script) in order; what each character looks like in ASCII; and the
    Latin letters that no language usually uses (UTS 39 restricts them in identifiers).
    """

    ranges: tuple[tuple[int, int, str], ...]
    looks: dict[str, str]
    uncommon: frozenset[str]


@cache
def tables() -> Tables:
    parts = _FILE.read_text(encoding="ascii").split("\n[")
    _, scripts, looks, uncommon = (part.partition("]\n")[2].splitlines() for part in parts)
    rows = (line.split() for line in scripts)
    ranges = tuple((int(first, 16), int(last, 16), script) for first, last, script in rows)
    targets = {
        chr(int(code, 16)): target
        for target, *codes in (line.split() for line in looks)
        for code in codes
    }
    return Tables(ranges, targets, frozenset(chr(int(code, 16)) for code in uncommon[0].split()))


@lru_cache(1 << 16)
def script_of(char: str) -> str:
    """A letter's script, such as "Cyrillic"; "" for characters that all scripts share."""
    ranges = tables().ranges
    at = bisect_right(ranges, (ord(char), 0x110000)) - 1
    if at < 0 or ord(char) > ranges[at][1]:
        return ""
    return "" if ranges[at][2] in _NO_SCRIPT else ranges[at][2]


@lru_cache(1 << 16)
def looks_like(char: str) -> str:
    """What the character looks like in ASCII; "" if it looks like nothing there."""
    if char.isascii():
        return char
    plain = unicodedata.normalize("NFKC", char)
    looks = plain.strip() if plain.isascii() else tables().looks.get(char, "")
    return "I" if looks == "l" and char.isupper() else looks


@lru_cache(1 << 16)
def reads_as(char: str) -> str:
    """Like `looks_like`, but a small letter may also look like its capital."""
    return looks_like(char) or (looks_like(char.upper()).lower() if len(char.upper()) == 1 else "")


def read_generously(word: str) -> str:
    """The word as it looks in ASCII. Letters that look like nothing there are unchanged."""
    return "".join(reads_as(char) or char for char in word)


def read_word(word: str) -> str:
    """The word in the ASCII letters and digits that it looks like; "" if it has any other letter."""
    read = [looks_like(char) for char in word]
    return "".join(read) if all(one.isalnum() for one in read) else ""


@cache
def latin_like_scripts() -> Set[str]:
    """The left-to-right scripts in which whole words can look like Latin ones, for example Cyrillic."""
    counts = Counter(
        script_of(char)
        for char, looks in tables().looks.items()
        if looks.isalpha() and is_letter(char) and unicodedata.bidirectional(char) == "L"
    )
    return {one for one, count in counts.items() if count >= _MIN_LOOK_ALIKES} - {"", "Latin"}


def is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] == "L"
