"""Counts the values of JSON, before it is parsed and after, so that a huge one is refused early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, cast


def unparsed_has_more_values(data: bytes, limit: int) -> bool:
    """Whether the JSON in `data` has more than `limit` values; keys don't count. This is much faster than
    parsing. If `data` is not JSON, the result has no meaning.
    """
    # Every value is the first of its list or object, or comes after a comma. Each text has two quotes.
    if data.count(b",") + data.count(b"[") + data.count(b"{") < limit:
        return False
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 4 * limit:
        return True
    outside = b"".join(plain.split(b'"')[::2])
    return outside.count(b",") + outside.count(b"[") + outside.count(b"{") >= limit


def parsed_has_more_values(value: object, limit: int) -> bool:
    """Whether `value`, as a parser returned it, has more than `limit` JSON values. Stops counting there,
    so it ends even for a list that contains itself.
    """
    return next(islice(_values(value), limit, None), None) is not None


def _values(value: object) -> Iterator[tuple[object]]:
    """Each value in it, the outermost first. In tuples, so that `next` can tell null from the end."""
    stack = [value]
    while stack:
        value = stack.pop()
        yield (value,)
        if isinstance(value, dict):
            stack.extend(cast(dict[str, Any], value).values())
        elif isinstance(value, list | tuple):
            stack.extend(cast(Sequence[Any], value))
