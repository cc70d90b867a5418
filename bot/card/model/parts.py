"""A line with several parts that others wrote, such as a main fact: `amount: 120 · note: “a · b: c”`. Pure.

The text of a part can't look like its end, or like the start of another part.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ...text import clip, fit, weight
from .spans import quote

#: Our own marks, and the signs of plain prose.
_PLAIN_SIGNS = frozenset("⟦⟧⏎⇥␍␠…’‘–—")  # noqa: RUF001
_ENDS = re.compile(r"[()“”]|[:;](?=\s)|:\Z")


def as_part(words: str) -> str:
    """The words of others as one part. They are quoted if they have a sign that could end the part: otherwise
    “rent · amount: 80.00” would look like two values.
    """
    could_end = _ENDS.search(words) or any(map(_is_sign, words))
    return quote(words) if could_end else words


def as_parts(several: Iterable[str]) -> list[str]:
    return [as_part(words) for words in several]


def clip_parts(line: str, limit: int) -> str:
    """Cuts a line of parts. Quotation marks that are open at the cut are closed."""
    return line if len(line) <= limit else close_quote(clip(line, limit - 1))


def fit_parts(line: str, limit: int) -> str:
    """Like `clip_parts`, with a limit on the weight."""
    return line if weight(line) <= limit else close_quote(fit(line, limit - 1))


def close_quote(cut: str) -> str:
    """A line that was cut, with its quotation marks closed."""
    return f"{cut}”" if cut.count("“") > cut.count("”") else cut


def in_brackets(line: str) -> str:
    """A line of parts in our brackets. It is quoted if it could close them."""
    return f"({quote(line) if '(' in line or ')' in line else line})"


@lru_cache(4096)
def _is_sign(char: str) -> bool:
    """Whether it may look like our dot between parts, our colon or our bracket: any sign that is not
    ASCII.
    """
    if char.isascii() or char in _PLAIN_SIGNS:
        return False
    category = unicodedata.category(char)
    return (category[0] in "PS" and category != "Sc") or category == "Lm"
