"""How well each scene reads on a phone, as it was judged by looking at its picture."""

from __future__ import annotations

from typing import NamedTuple


class Score(NamedTuple):
    """`points`: 5 if who, what, why and by when are clear in ten seconds and nothing misleads; 4 with one
    small flaw, which `word` names; 3 or less if a person could decide wrongly.
    """

    points: int
    word: str


SCORES: dict[str, Score] = {}
