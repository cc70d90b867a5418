"""Globs for tool names. They match the whole name, are case-sensitive, and have only `*` and `?`."""

from __future__ import annotations

import re

_WILDCARD = re.compile(r"[*?]")
_WILDCARDS = re.compile(r"[*?]{2,}")


def is_glob(name: str) -> bool:
    return "*" in name or "?" in name


class Glob:
    """Matches names in linear time, for any glob."""

    def __init__(self, glob: str) -> None:
        # Bit n of each number is for the glob's nth symbol, without the stars. A star is stored in the
        # bit of the symbol after it.
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
        here = 1  # bit n: the first n symbols match the name up to here
        for char in name:
            step = self._symbols.get(char, 0) | self._any
            here = (here & step) << 1 | here & self._stars
        return bool(here & self._end)


def literal_start(glob: str) -> str:
    """The characters before the first wildcard: each name that the glob matches begins with them."""
    return _WILDCARD.split(glob, maxsplit=1)[0]


def covers(general: str, special: str) -> bool:
    """Whether `general` matches every name that `special` matches.

    A name without wildcards is a glob too, so `special` can be a name. It takes len(general) * len(special)
    steps for any input.
    """
    if not special.endswith(_WILDCARD.split(general)[-1]):
        return False  # quickly, because most pairs differ at their ends
    outer, inner = _normalize(general), _normalize(special)
    end = len(inner)
    # rest[j]: whether the remaining end of `outer` covers inner[j:]. At first this end is empty.
    rest = [False] * end + [True]
    for symbol in reversed(outer):
        row = [False] * end + [symbol == "*" and rest[end]]
        for j in reversed(range(end)):
            if symbol == "*":
                row[j] = rest[j] or row[j + 1]
            elif inner[j] == "*":  # matches nothing, or one more character
                row[j] = symbol == "?" and row[j + 1] and rest[j]
            else:
                row[j] = rest[j + 1] and symbol in ("?", inner[j])
        rest = row
    return rest[0]


def _normalize(glob: str) -> str:
    """In each run of wildcards, put all `?` first and then one `*`: `*?*` means the same as `?*`."""
    return _WILDCARDS.sub(lambda run: "?" * run[0].count("?") + "*" * ("*" in run[0]), glob)
