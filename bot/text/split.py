"""Splits a long visible text between paragraphs, lines or words. Pure."""

from __future__ import annotations

import re
import unicodedata

#: Where to split, the best first.
_BREAKS = ("\n\n", "\n", " ")
#: Never split: a mark such as ⟦U+202E⟧, or ⟦12 spaces⟧.
_MARK = re.compile(r"⟦[^⟦⟧]{1,80}⟧")


def split_text(visible: str, limit: int) -> list[str]:
    """Pieces of at most `limit` characters, which together are the text. A piece ends inside a word only if
    the word is very long, and never inside a mark or between a letter and its combining marks.
    """
    pieces: list[str] = []
    start = 0
    while len(visible) - start > limit:
        end = _end(visible, start, start + limit)
        pieces.append(visible[start:end])
        start = end
    return [*pieces, visible[start:]]


def _end(text: str, start: int, end: int) -> int:
    for each in _BREAKS:
        at = text.rfind(each, start + (end - start) // 2, end)
        if at >= 0 and not _is_in_mark(text, start, at + len(each)):
            return at + len(each)
    mark = _mark_at(text, start, end)
    if mark is not None:
        end = mark
    at = end
    while at > start + 1 and at < len(text) and unicodedata.category(text[at])[0] == "M":
        at -= 1
    return at


def _is_in_mark(text: str, start: int, at: int) -> bool:
    return _mark_at(text, start, at) is not None


def _mark_at(text: str, start: int, at: int) -> int | None:
    """Where the mark begins that a split at `at` would cut; None if there is none."""
    opened = text.rfind("⟦", start, at)
    if opened <= start:
        return None
    found = _MARK.match(text, opened)
    return opened if found and found.end() > at else None
