"""Makes untrusted text safe to read: invisible characters become visible marks, and cuts are marked. Pure.

All our marks are in ⟦ ⟧, and these two characters in a text become marks themselves: no text can forge a
mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

#: Characters that are shown as nothing, although Unicode calls them letters, marks or symbols.
_BLANK = frozenset(
    "\ufffc\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159"
)
#: The characters of our own marks.
_MARK_CHARS = frozenset("⟦⟧⏎⇥␍␠")
#: Characters that are always visible (letters, combining marks, signs), so that only the others are checked
#: one by one. A test compares them with Unicode.
LETTERS = (
    r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u0531-\u0556"
    r"\u0561-\u0587\u05d0-\u05ea\u0620-\u063f\u0641-\u064a\u0904-\u0939\u0e01-\u0e30\u1e00-\u1eff"
    r"\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fef\uac00-\ud7a3"
)
MARKS = r"\u0300-\u0333\u0339-\u034e\u064b-\u0652\u0900-\u0903\u093e-\u094d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
SIGNS = (
    r" -@\[-`{-~\u00a1-\u00ac\u00ae-\u00bf\u00d7\u00f7\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u21e4"
    r"\u2500-\u27e5\u3001-\u3020\uff01-\uff9d\U0001f300-\U0001f64f\U0001f680-\U0001f6c5"
)
SUSPECT = re.compile(
    rf"[^\n\t{LETTERS}{MARKS}{SIGNS}]|(?<![{LETTERS}])(?<![{LETTERS}][{MARKS}])[{MARKS}]"
)
#: Matches most short texts, which need no further check.
_PLAIN = re.compile("[!-~]+(?: [!-~]+)*")
_SUSPECTS = re.compile(f"(?:{SUSPECT.pattern})+")
#: Matches most long texts. None of these characters is suspect, and this finds it out in a tenth of the time.
_ASCII = re.compile(r"[\n\t -~]*")
_MARK = re.compile(r"⟦U\+([0-9A-F]{4,6})⟧")
_PADDING = re.compile(r"[ \t\n]{4,}")
#: Spaces and tabs that nobody sees: at the start of the text and at the end of a line.
_EDGE = re.compile(r"\A[ \t]+|[ \t]+(?=\n|\Z)")
_PADDING_NAMES = {" ": "space", "\t": "tab", "\n": "line break"}
_PADDING_LIMITS = {" ": 40, "\t": 8, "\n": 3}
#: More marks than this on one letter would cover the lines around it.
_MAX_COMBINING = 4

#: How many characters at the start and the end of a very long text `excerpt` reads.
MAX_ENDS = 6_000


class CutText(NamedTuple):
    """Cut text, how many characters are missing, and the weight of the text."""

    text: str
    missing: int
    weight: int


def add_marks(text: str) -> str:
    """Replaces every invisible character by ⟦U+XXXX⟧. `remove_marks` restores the text."""
    return text if _ASCII.fullmatch(text) else _SUSPECTS.sub(_replace_suspects, text)


def remove_marks(text: str) -> str:
    """Replaces the marks by their characters. A person may have removed or added marks."""
    return _MARK.sub(lambda m: chr(code) if (code := int(m[1], 16)) < 0x110000 else m[0], text)


def add_marks_each(texts: Iterable[str]) -> list[str]:
    return [add_marks(text) for text in texts]


def remove_marks_each(texts: Iterable[str | None]) -> list[str | None]:
    return [text and remove_marks(text) for text in texts]


def to_visible(text: str) -> str:
    """`add_marks`; also replaces long padding by its length, so that it can't hide text, and shows spaces and
    tabs at an edge and the last line break by a sign. Two different texts never look the same.
    """
    if len(text) < 200 and _PLAIN.fullmatch(text):
        return text
    result = _PADDING.sub(_replace_padding, add_marks(text).replace("⟦U+000D⟧\n", "␍\n"))
    result = _EDGE.sub(lambda m: m[0].replace(" ", "␠").replace("\t", "⇥"), result)
    result = re.sub("␠␠+", lambda m: f"⟦{len(m[0]):,} spaces⟧", result)
    return f"{result[:-1]}⏎" if result.endswith("\n") else result


def one_line(text: str) -> str:
    """`to_visible` on one line."""
    return to_visible(text).replace("\n", "⏎").replace("\t", "⇥")


def one_line_each(texts: Iterable[str]) -> list[str]:
    return [one_line(text) for text in texts]


def labels(names: Iterable[str], limit: int) -> list[str]:
    """Each name on one line, with the number of missing characters if it is cut."""
    return [truncate(one_line(name), limit).text for name in names]


def weight(text: str) -> int:
    """The length of the text in markup, where `&`, `<` and `>` are entities."""
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def truncate(text: str, limit: int, lines: int = 18) -> CutText:
    """The start and the end, within a weight and a number of lines, with the number of missing characters
    between them. The end is kept because the dangerous part is often there.
    """
    if (whole := weight(text)) <= limit and text.count("\n") <= lines:
        return CutText(text, 0, whole)
    head = _head(text, limit * 2 // 3, lines * 2 // 3)
    return _join_cut(head, _tail(text[len(head) :], limit // 3, lines // 3), len(text))


def excerpt(raw: str, limit: int, lines: int = 18) -> CutText:
    """`raw` made visible and cut. The middle of a very long text is not read."""
    if len(raw) <= 2 * MAX_ENDS:
        return truncate(to_visible(raw), limit, lines)
    first, last = to_visible(raw[:MAX_ENDS]), to_visible(raw[-MAX_ENDS:])
    head = _head(first, limit * 2 // 3, lines * 2 // 3)
    whole = len(first) + len(raw) - 2 * MAX_ENDS + len(last)
    return _join_cut(head, _tail(last, limit // 3, lines // 3), whole)


def visible_texts(raws: Iterable[str]) -> list[CutText | None]:
    """Each text made visible in full; None for a very long text: `excerpt` reads only its ends."""
    known = (to_visible(raw) if len(raw) <= 2 * MAX_ENDS else None for raw in raws)
    return [None if one is None else CutText(one, 0, weight(one)) for one in known]


def shorten(text: str, limit: int) -> str:
    """The text on one line, with an ellipsis if it was cut. For names and sentences."""
    return clip(one_line(text), limit)


def shorten_each(texts: Iterable[str], limit: int) -> list[str]:
    return [shorten(text, limit) for text in texts]


def clip(visible: str, limit: int) -> str:
    """Like `shorten`, for text that is visible already."""
    return visible if len(visible) <= limit else visible[: limit - 1] + "…"


def fit(visible: str, limit: int) -> str:
    """Like `clip`, with a limit on the weight."""
    return visible if weight(visible) <= limit else _start(visible, limit - 1, len(visible)) + "…"


def _replace_suspects(match: re.Match[str]) -> str:
    whole, start = match.string, match.start()
    return "".join(
        _format_char(char) or (char if is_visible(char, whole, at) else _mark(char))
        for at, char in enumerate(match[0], start)
    )


def _mark(char: str) -> str:
    return f"⟦U+{ord(char):04X}⟧"


@lru_cache(4096)
def _format_char(char: str) -> str | None:
    """The mark of a character; None if that depends on the characters before it."""
    seen = char not in _MARK_CHARS and _is_visible_anywhere(char)
    return None if seen is None else char if seen else _mark(char)


def is_visible(char: str, text: str, at: int) -> bool:
    """Whether a reader sees this character of `text`, and it does not change other characters."""
    if (always := _is_visible_anywhere(char)) is not None:
        return always
    if char == "\ufe0f":  # selects the coloured form of the symbol before it
        return at > 0 and unicodedata.category(text[at - 1]) == "So"
    return _is_on_letter(char, text[max(0, at - _MAX_COMBINING) : at])


@lru_cache(4096)
def _is_visible_anywhere(char: str) -> bool | None:
    """Whether the character is visible everywhere; None if that depends on the characters before it."""
    code, category = ord(char), unicodedata.category(char)
    if char in _BLANK or 0xFE00 <= code <= 0xFE0E or code >= 0xE0100 or 0x180B <= code <= 0x180F:
        return False
    return None if category[0] == "M" else category[0] not in "CZ"


def _is_on_letter(mark: str, before: str) -> bool:
    """Whether a mark is on a letter. A mark that strikes through or encloses would format the letter."""
    if unicodedata.category(mark) == "Me" or unicodedata.combining(mark) == 1:
        return False
    kinds = [unicodedata.category(char)[0] for char in before]
    return bool(kinds) and kinds[-1] in "LM" and "L" in kinds


def _replace_padding(match: re.Match[str]) -> str:
    """Replaces long runs of white space by their lengths. A mix of many runs stays: `truncate` counts its
    lines.
    """
    runs = [(char, len(list(run))) for char, run in groupby(match[0])]
    if len(runs) > 6 or all(count <= _PADDING_LIMITS[char] for char, count in runs):
        return match[0]
    parts = (f"{count:,} {_PADDING_NAMES[char]}{'s' * (count != 1)}" for char, count in runs)
    return f"⟦{', '.join(parts)}⟧"


def _join_cut(head: str, tail: str, whole: int) -> CutText:
    missing = whole - len(head) - len(tail)
    notice = f"⟦{missing:,} more character{'s' * (missing != 1)}⟧"
    cut = f"{head}\n{notice}\n{tail}" if "\n" in head + tail else head + notice + tail
    return CutText(cut, missing, weight(cut))


def _head(text: str, limit: int, lines: int) -> str:
    return _drop_partial_mark(_start(text, limit, lines), "⟦", "⟧")


def _tail(text: str, limit: int, lines: int) -> str:
    return _drop_partial_mark(_start(text[: -limit - 2 : -1], limit, lines), "⟧", "⟦")[::-1]


def _start(text: str, limit: int, lines: int) -> str:
    start = text[: max(0, limit)]
    # Most texts have no entities: reading these character by character took a fifth of a card's time.
    if weight(start) == len(start) and start.count("\n") <= lines:
        return start
    for at, char in enumerate(text[: limit + 1]):
        limit -= weight(char)
        lines -= char == "\n"
        if limit < 0 or lines < 0:
            return text[:at]
    return text


def _drop_partial_mark(text: str, opens: str, closes: str) -> str:
    """The text without an incomplete mark at its end."""
    at = text.rfind(opens)
    return text[:at] if at > text.rfind(closes) else text
