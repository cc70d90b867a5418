"""Globs over tool names: anchored, case-sensitive, with `*` and `?` and nothing else."""

from __future__ import annotations

import re

_WILDCARDS = re.compile(r"[*?]{2,}")


def is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def covers(general: str, special: str) -> bool:
    """Whether every name that `special` matches is matched by `general`.

    A name without wildcards is a glob that matches itself alone, so this also matches names.
    Takes len(general) * len(special) steps whatever they hold: no pattern can make it slow.
    """
    outer, inner = _sorted(general), _sorted(special)
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


def _sorted(glob: str) -> str:
    """`*?*` means the same as `?*`: in a run of wildcards, each `?` first and then one `*`."""
    return _WILDCARDS.sub(lambda run: "?" * run[0].count("?") + "*" * ("*" in run[0]), glob)
