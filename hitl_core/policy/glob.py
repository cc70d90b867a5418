"""Globs over tool names: anchored, case-sensitive, with `*` and `?` and nothing else."""

from __future__ import annotations

import re

_WILDCARDS = re.compile(r"[*?]{2,}")


def is_glob(name: str) -> bool:
    return "*" in name or "?" in name


class Glob:
    """Matches names in steps that are in proportion to each name, whatever the glob is."""

    def __init__(self, glob: str) -> None:
        # Bit n of a number is about the glob's nth symbol, `*` not counted. A star stands before a symbol.
        self._symbols: dict[str, int] = {}
        self._stars, count = 0, 0
        for symbol in glob:
            if symbol == "*":
                self._stars |= 1 << count
            else:
                self._symbols[symbol] = self._symbols.get(symbol, 0) | 1 << count
                count += 1
        self._any, self._end = self._symbols.pop("?", 0), 1 << count

    def matches(self, name: str) -> bool:
        here = 1  # bit n: so far the name is what the first n symbols match
        for char in name:
            step = self._symbols.get(char, 0) | self._any
            here = (here & step) << 1 | here & self._stars
        return bool(here & self._end)


def covers(general: str, special: str) -> bool:
    """Whether every name that `special` matches is matched by `general`.

    A name without wildcards is a glob that matches itself alone, so this also matches names.
    Takes len(general) * len(special) steps whatever they hold: no pattern can make it slow.
    """
    outer, inner = _normalize(general), _normalize(special)
    end = len(inner)
    # rest[j]: does what is left of `outer` cover inner[j:]? At first nothing is left of it.
    rest = [False] * end + [True]
    for symbol in reversed(outer):
        row = [False] * end + [symbol == "*" and rest[end]]
        for j in reversed(range(end)):
            if symbol == "*":
                row[j] = rest[j] or row[j + 1]
            elif inner[j] == "*":  # is nothing at all, or one character more
                row[j] = symbol == "?" and row[j + 1] and rest[j]
            else:
                row[j] = rest[j + 1] and symbol in ("?", inner[j])
        rest = row
    return rest[0]


def _normalize(glob: str) -> str:
    """`*?*` means the same as `?*`: in a run of wildcards, each `?` first and then one `*`."""
    return _WILDCARDS.sub(lambda run: "?" * run[0].count("?") + "*" * ("*" in run[0]), glob)
