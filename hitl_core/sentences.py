"""Parts of the sentences that people read."""

from __future__ import annotations

from collections.abc import Iterable

#: At most this many names are listed; the others are counted.
MAX_LISTED = 8


def join_names(names: Iterable[str], last: str = "and", *, most: int = MAX_LISTED) -> str:
    """`a, b and c`; with more than `most` names `a, b and 5 more`."""
    known = list(names)
    if len(known) > most:
        known = [*known[: most - 1], f"{len(known) - most + 1} more"]
    return f" {last} ".join(part for part in (", ".join(known[:-1]), *known[-1:]) if part)
