"""How many of the server's connections agents may use at once: clicks and probes find room as well."""

from __future__ import annotations

from collections import Counter


class Share:
    """So many requests of all tokens together, and of one token half of that at most."""

    def __init__(self, most: int) -> None:
        self._most, self._alone = max(2, most), max(1, most // 2)
        self._of, self._all = Counter[str](), 0

    def take(self, token: str) -> bool:
        """Whether there is room for one more; if so, `give_back` must follow."""
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
