"""Limits the connections that agents use at the same time, so that clicks and probes get some too."""

from __future__ import annotations

from collections import Counter


class Share:
    """At most `most` requests of all tokens together, and at most half of that for one token."""

    def __init__(self, most: int) -> None:
        self._most, self._alone = max(2, most), max(1, most // 2)
        self._of, self._all = Counter[str](), 0

    def take(self, token: str) -> bool:
        """Returns whether there is room for one more. If so, the caller must call `give_back` later."""
        if self._all >= self._most or self._of[token] >= self._alone:
            return False
        self._of[token] += 1
        self._all += 1
        return True

    def give_back(self, token: str) -> None:
        self._of[token] -= 1
        self._all -= 1
        if not self._of[token]:
            del self._of[token]
