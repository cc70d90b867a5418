"""Parts of the sentences that people read."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Quotation marks that look like ours: those in Unicode's PropList.txt, and their ornaments.
_MARKS = re.compile("[“”‟〝〞〟＂❝❞⹂\U0001f676-\U0001f678]")  # noqa: RUF001
#: At most this many names are listed; the others are counted.
MAX_LISTED = 8


def join_names(names: Iterable[str], last: str = "and", *, most: int = MAX_LISTED) -> str:
    """`a, b and c`; with more than `most` names `a, b and 5 more`."""
    known = list(names)
    if len(known) > most:
        known = [*known[: most - 1], f"{len(known) - most + 1} more"]
    return f" {last} ".join(part for part in (", ".join(known[:-1]), *known[-1:]) if part)


def quote(words: str) -> str:
    """The words of others in quotation marks that they can't close."""
    return f"“{_MARKS.sub(chr(34), words)}”"
