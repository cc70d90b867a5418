"""Untrusted text made fit to be read: what is invisible is shown, what is cut is said. Pure.

All of our own marks stand in ⟦ ⟧, and those two in a text become marks themselves: no text can forge a mark.
"""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import groupby
from typing import Any, NamedTuple

#: Drawn as nothing, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159"
)
#: What our own marks are made of.
_OURS = frozenset("⟦⟧⏎⇥␍␠")
#: Reorders what follows it: Trojan Source, CVE-2021-42574.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_WORD = re.compile(r"[^\W\d_]+")
#: Greek letters that look like Latin ones. Cyrillic and Armenian ones are too many to tell apart.
_GREEK = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυικτχ")
#: All but what is surely a letter that is seen: Latin, Cyrillic, kana, Han, Hangul.
_SUSPECT = re.compile(
    r"[^\n\t -~\u00c0-\u024f\u0410-\u044f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fef\uac00-\ud7a3]"
)
_MARK = re.compile(r"⟦U\+([0-9A-F]{4,6})⟧")
_PADDING = re.compile(r"[ \t\n]{4,}")
#: Spaces and tabs where nobody sees them: at the start of the text and at the end of a line.
_EDGE = re.compile(r"\A[ \t]+|[ \t]+(?=\n|\Z)")
_PADDED = {" ": "space", "\t": "tab", "\n": "line break"}
_MANY = {" ": 40, "\t": 8, "\n": 3}
#: More marks than this on one letter draw over the lines around it.
_MAX_COMBINING = 4

#: JSON longer than this stands on one line: in deep nesting, indenting makes thirty times as much of it.
MAX_INDENTED = 8_000


class Cut(NamedTuple):
    """Text as it is shown, and how many characters of it are not."""

    text: str
    missing: int


def marked(text: str) -> str:
    """Every character that a reader could miss stands as ⟦U+XXXX⟧. `unmarked` gives the text back."""
    return _SUSPECT.sub(_mark, text)


def unmarked(text: str) -> str:
    """Text in which a person may have kept, removed or written marks."""
    return _MARK.sub(lambda m: chr(code) if (code := int(m[1], 16)) < 0x110000 else m[0], text)


def visible(text: str) -> str:
    """`marked`, with padding as its length, so that it pushes nothing out of sight, and a sign for each
    space and tab at an edge and for the last line break: two texts that differ never look alike.
    """
    shown = _PADDING.sub(_padding, marked(text).replace("⟦U+000D⟧\n", "␍\n"))
    shown = _EDGE.sub(lambda m: m[0].replace(" ", "␠").replace("\t", "⇥"), shown)
    return f"{shown[:-1]}⏎" if shown.endswith("\n") else shown


def one_line(text: str) -> str:
    """The same on one line."""
    return visible(text).replace("\n", "⏎").replace("\t", "⇥")


def weight(text: str) -> int:
    """Its length with `&`, `<` and `>` as entities, as markup counts it."""
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def cut(text: str, limit: int, lines: int = 18) -> Cut:
    """The beginning and the end, within a weight and a number of lines, and between them how much is missing:
    what hurts is often at the end.
    """
    if weight(text) <= limit and text.count("\n") < lines:
        return Cut(text, 0)
    head = _start(text, limit * 2 // 3, lines * 2 // 3)
    tail = _start(text[len(head) :][: -limit - 1 : -1], limit // 3, lines // 3)[::-1]
    head = _unbroken(head, "⟦", "⟧")
    tail = _unbroken(tail[::-1], "⟧", "⟦")[::-1]
    missing = len(text) - len(head) - len(tail)
    told = f"⟦{missing:,} more character{'s' * (missing != 1)}⟧"
    return Cut(f"{head}\n{told}\n{tail}" if "\n" in head + tail else head + told + tail, missing)


def shortened(text: str, limit: int) -> str:
    """For names and sentences: one line with an ellipsis where it was cut."""
    line = one_line(text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def warning(text: str) -> str | None:
    """What is odd in a text, in words; None where nothing is."""
    if _BIDI.search(text):
        return "holds a character that changes the order of the text after it"
    if any(not _plain(m[0], text, m.start()) for m in _SUSPECT.finditer(text.replace("\r\n", ""))):
        return "holds invisible or control characters"
    if any(_mixed(word[0]) for word in _WORD.finditer(text)):
        return "mixes alphabets in a word, so a letter may not be the one that it looks like"
    return None


def shown_value(value: Any) -> str:
    """An argument as people read it: text as it is, everything else as JSON. Text that could be taken for
    JSON, or for nothing, is quoted.
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value
    compact = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(compact) > MAX_INDENTED:
        return compact
    return json.dumps(value, ensure_ascii=False, indent=2)


def _needs_quotes(text: str) -> bool:
    if not text.strip():
        return True
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not isinstance(value, dict | list) or shown_value(value) == text


def _mark(match: re.Match[str]) -> str:
    char = match[0]
    if char not in _OURS and _plain(char, match.string, match.start()):
        return char
    return f"⟦U+{ord(char):04X}⟧"


def _plain(char: str, text: str, at: int) -> bool:
    """Whether a reader sees this character of `text`, and it leaves the others as they are."""
    before = text[at - 1] if at else ""
    if char == "\ufe0f":  # asks for the coloured form of the symbol before it
        return unicodedata.category(before or " ") == "So"
    code = ord(char)
    if 0xFE00 <= code <= 0xFE0E or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F:
        return False
    category = unicodedata.category(char)
    if category[0] == "M":
        return _carried(char, text[max(0, at - _MAX_COMBINING) : at]) and char not in _BLANK
    return category[0] not in "CZ" and char not in _BLANK


def _carried(mark: str, before: str) -> bool:
    """A mark belongs to a letter. One that strikes through or encloses would format it."""
    if unicodedata.category(mark) == "Me" or unicodedata.combining(mark) == 1:
        return False
    kinds = [unicodedata.category(char)[0] for char in before]
    return bool(kinds) and kinds[-1] in "LM" and "L" in kinds


def _mixed(word: str) -> bool:
    """Whether a word of Latin letters holds look-alikes of them (Unicode Technical Standard 39)."""
    if word.isascii():
        return False
    names = [unicodedata.name(char, "") for char in set(word)]
    others = not _GREEK.isdisjoint(word) or any(
        n.startswith(("CYRILLIC", "ARMENIAN")) for n in names
    )
    return others and any(name.startswith("LATIN") for name in names)


def _padding(match: re.Match[str]) -> str:
    """Long runs as their lengths. What mixes too much stays: `cut` counts its lines."""
    runs = [(char, len(list(run))) for char, run in groupby(match[0])]
    if len(runs) > 6 or all(count <= _MANY[char] for char, count in runs):
        return match[0]
    told = (f"{count:,} {_PADDED[char]}{'s' * (count != 1)}" for char, count in runs)
    return f"⟦{', '.join(told)}⟧"


def _start(text: str, limit: int, lines: int) -> str:
    for at, char in enumerate(text[: limit + 1]):
        limit -= weight(char)
        lines -= char == "\n"
        if limit < 0 or lines < 0:
            return text[:at]
    return text


def _unbroken(text: str, opens: str, closes: str) -> str:
    """Without the beginning of a mark at its end."""
    at = text.rfind(opens)
    return text[:at] if at > text.rfind(closes) else text
