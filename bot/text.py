"""Untrusted text made fit to be read: what is invisible is shown, what is cut is said. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, NamedTuple

#: Drawn as nothing, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: Reorders what follows it: Trojan Source, CVE-2021-42574.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NEWLINES = re.compile(r"\n{4,}")
_SPACES = re.compile(r" {41,}")
_LITERAL = re.compile(r"null|true|false|-?\d[\d.eE+-]*")


class Cut(NamedTuple):
    """Text as it is shown, and how many characters of it are not."""

    text: str
    missing: int


def visible(text: str) -> str:
    """Every character that a reader could miss stands as ⟦U+XXXX⟧, padding as its length."""
    text = text.replace("\r\n", "\n")
    shown = "".join(
        char if _plain(char, before) else f"⟦U+{ord(char):04X}⟧"
        for before, char in zip(" " + text, text, strict=False)
    )
    shown = _NEWLINES.sub(lambda run: f"\n⟦{len(run[0]) - 1} empty lines⟧\n", shown)
    return _SPACES.sub(lambda run: f" ⟦{len(run[0])} spaces⟧ ", shown)


def one_line(text: str) -> str:
    """The same on one line."""
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def cut(text: str, limit: int) -> Cut:
    return Cut(text, 0) if len(text) <= limit else Cut(text[:limit], len(text) - limit)


def warning(text: str) -> str | None:
    """What is odd in a text, in words; None where nothing is."""
    if _BIDI.search(text):
        return "holds a character that changes the order of the text after it"
    if any(not _plain(char, before) for before, char in zip(" " + text, text, strict=False)):
        return "holds invisible or control characters"
    return None


def shown_value(value: Any) -> str:
    """An argument as people read it: text as it is, everything else as JSON."""
    if isinstance(value, str):
        return json.dumps(value) if not value or _LITERAL.fullmatch(value) else value
    indent = 2 if isinstance(value, dict | list) and value else None
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _plain(char: str, before: str) -> bool:
    if char in "\n\t" or " " <= char <= "~":
        return True
    if char == "\ufe0f":  # asks for the coloured form of the symbol before it
        return unicodedata.category(before) == "So"
    if (
        0xFE00 <= ord(char) <= 0xFE0E
        or 0xE0100 <= ord(char) <= 0xE01EF
        or 0x180B <= ord(char) <= 0x180F
    ):
        return False
    return unicodedata.category(char)[0] not in "CZ" and char not in _BLANK
