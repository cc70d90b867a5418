"""Labels of texts that must be told apart although they are cut. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .visible import labels, one_line_each, truncate

#: How many characters are shown before the first difference, and the space for the mark before them.
_BEFORE, _MARK = 4, 25
#: The mark of a cut. Its number tells nobody what a label is about.
_CUT = re.compile(r"⟦[\d,]+ more characters?⟧")


def distinct_labels(names: Iterable[str], limit: int) -> list[str]:
    """Like `labels`, but all different. Of names whose labels would be the same, the common beginning is cut:
    what is left begins a little before the first difference. If names are the same, each label begins with
    its number, which the `limit` does not count.
    """
    names = list(names)
    found = labels(names, limit)
    waiting = [(same, 0) for same in _same(found, range(len(found)))]
    texts = one_line_each(names) if waiting else []
    while waiting:
        same, cut = waiting.pop()
        start = _start_of_difference([texts[at] for at in same])
        if start <= cut:
            continue  # they are the same, or the difference has no room
        mark = f"⟦{start:,} more characters⟧"
        for at in same:
            found[at] = mark + truncate(texts[at][start:], limit - _MARK).text
        waiting += [(each, start) for each in _same(found, same)]
    if are_distinct(found):
        return found
    return [f"{number}. {each}" for number, each in enumerate(found, start=1)]


def are_distinct(labels: Iterable[str]) -> bool:
    """Whether people can tell all of these labels apart. The number in the mark of a cut is no difference."""
    known = [_CUT.sub("", label) for label in labels]
    return len(set(known)) == len(known)


def _same(labels: Sequence[str], among: Iterable[int]) -> list[list[int]]:
    """The positions of labels that look the same, in groups of two or more."""
    groups = dict[str, list[int]]()
    for at in among:
        groups.setdefault(_CUT.sub("", labels[at]), []).append(at)
    return [group for group in groups.values() if len(group) > 1]


def _start_of_difference(texts: list[str]) -> int:
    """A little before the first difference, and not within a mark; 0 if there is no difference."""
    first, last = min(texts), max(texts)  # what these two share, all share
    pairs = enumerate(zip(first, last, strict=False))
    common = next((at for at, (one, other) in pairs if one != other), len(first))
    if first == last:
        return 0
    before = first[: max(0, common - _BEFORE)]
    begin = before.rfind("⟦")
    return begin if begin > before.rfind("⟧") else len(before)
