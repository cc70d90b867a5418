"""Cuts a list or an object between its parts: the first and last parts are whole, and between them is the
number of parts that are not shown. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from hitl_core.json_text import indent_json

from ... import text

#: How many levels deep a part that is too large is cut.
MAX_DEPTH = 3
#: The characters and lines of the brackets and the mark.
_FRAME, _FRAME_LINES = 100, 3
#: The most names in a mark, and the most characters of one name.
MAX_NAMED, MAX_NAME = 3, 30


class _Part(NamedTuple):
    """One item, or one field with its name."""

    name: str | None
    value: Any

    def begin(self) -> str:
        return "" if self.name is None else f"{text.to_visible(_dump(self.name))}: "


def cut_json(value: Any, limit: int, lines: int, depth: int = 1) -> text.CutText | None:
    """The value as JSON, within a weight and a number of lines. None if it is not a list or object, or if not
    even a piece of its first part fits.
    """
    parts, missing = _parts_of(value), 0
    limit, lines = (limit - _FRAME) * 2 // 3, (lines - _FRAME_LINES) * 2 // 3
    head = _fit_parts(parts, limit, lines)
    rest = parts[len(head) :]
    if rest and depth < MAX_DEPTH:
        room = limit - sum(map(text.weight, head)) - len(rest[0].begin())
        left = lines - sum(map(_count_lines, head))
        if (begun := cut_json(rest[0].value, room, left, depth + 1)) is not None:
            head.append(rest[0].begin() + begun.text)
            rest, missing = rest[1:], begun.missing
    if not head:
        return None
    tail = _fit_parts(reversed(rest), limit // 2, lines // 2)[::-1]
    left_out = rest[: len(rest) - len(tail)]
    missing += sum(len(one.begin()) for one in left_out)
    missing += len(_dump([one.value for one in left_out])) if left_out else 0
    cut = _join("[]" if isinstance(value, list) else "{}", head, left_out, tail)
    return text.CutText(cut, missing, text.weight(cut))


def _parts_of(value: Any) -> list[_Part]:
    if isinstance(value, list):
        return [_Part(None, one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return [_Part(name, one) for name, one in cast("dict[str, Any]", value).items()]
    return []


def _fit_parts(parts: Iterable[_Part], limit: int, lines: int) -> list[str]:
    """The first parts that fit."""
    fit: list[str] = []
    for part in parts:
        if limit <= 0 or len(_dump(part.value)) > limit:
            break
        written = part.begin() + text.to_visible(indent_json(part.value))
        count = _count_lines(written)
        limit -= text.weight(written) + len(",\n  ") * count
        lines -= count
        if limit < 0 or lines < 0:
            break
        fit.append(written)
    return fit


def _count_lines(written: str) -> int:
    return 1 + written.count("\n")


def _join(
    brackets: str, head: Sequence[str], left_out: Sequence[_Part], tail: Sequence[str]
) -> str:
    shown = [*head, *tail]
    written = [*(f"{one}," for one in shown[:-1]), shown[-1]]
    if left_out:
        written.insert(len(head), _mark(left_out))
    inner = "\n".join(written).replace("\n", "\n  ")
    return f"{brackets[0]}\n  {inner}\n{brackets[1]}"


def _mark(left_out: Sequence[_Part]) -> str:
    """`⟦12 more items⟧`, or `⟦2 more fields: "bcc", "to"⟧`."""
    count, plural = len(left_out), "s" * (len(left_out) != 1)
    names = [
        text.shorten(_dump(one.name), MAX_NAME)
        for one in left_out[:MAX_NAMED]
        if one.name is not None
    ]
    if not names:
        return f"⟦{count:,} more item{plural}⟧"
    more = [f"{count - MAX_NAMED:,} more"] if count > MAX_NAMED else []
    return f"⟦{count:,} more field{plural}: {', '.join([*names, *more])}⟧"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
