"""Export of the audit as lines: entries in order of time, and after each range its anchor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from hitl_core.audit.entry import Anchor, parse_position
from hitl_core.audit.ledger import Entry, Ledger
from hitl_core.errors import InvalidToolCall, StoreUnavailable
from hitl_core.model import JsonObject, decode

T = TypeVar("T")

#: The entries of one page. A page is one command, which a loaded Redis must also answer in time.
PAGE_SIZE = 1000
#: The pauses, in seconds, before a page without a reply is read again. After the last one the export fails.
PAUSES = (0.5, 1.0, 2.0)


async def entries(ledger: Ledger, partition: int, after: str = "") -> AsyncIterator[Entry]:
    """All entries of a partition after this id."""
    while page := await _entries_page(ledger, partition, after, PAGE_SIZE):
        for entry in page:
            yield entry
        after = page[-1].id


async def export_lines(
    ledger: Ledger, partition: int, after: str = ""
) -> AsyncIterator[tuple[str, Anchor | None]]:
    """The lines of whole ranges, starting with the range that contains `after`. An anchor's line comes
    together with the anchor. If the export doesn't start at the beginning, its first line names the anchor
    before.
    """
    start = await find_start(ledger, partition, after)
    if start is not None:
        yield follows_line(start), None
    end = start.last if start else ""
    async for anchor in _anchors(ledger, partition, end):
        async for entry in _entries_in_range(ledger, partition, end, anchor):
            yield entry_line(entry), None
        yield anchor.to_line(), anchor
        end = anchor.last


def read_entry(line: str) -> JsonObject | None:
    """The keys of an entry, not verified; None for a line that can't be read."""
    try:
        return decode(line)
    except InvalidToolCall:
        return None


def entry_line(entry: Entry) -> str:
    """The entry's line in an export: the entry with its `id`."""
    return f'{{"id":"{entry.id}",{entry.line[1:]}'


def follows_line(start: Anchor) -> str:
    """The first line of an export that doesn't start at the beginning of the audit."""
    return f'{{"follows":{start.to_line()}}}'


async def find_start(ledger: Ledger, partition: int, after: str = "") -> Anchor | None:
    """The last anchor that ends at `after` or before it. If early entries were trimmed, at least the anchor
    that ends where the remaining entries begin.
    """
    start: Anchor | None = None
    first = await _entries_page(ledger, partition, "", 1)
    async for anchor in _anchors(ledger, partition):
        trimmed = start is None and (
            not first or parse_position(first[0].id) > parse_position(anchor.last)
        )
        if not trimmed and not (after and parse_position(anchor.last) <= parse_position(after)):
            break
        start = anchor
    return start


async def _anchors(ledger: Ledger, partition: int, after: str = "") -> AsyncIterator[Anchor]:
    while page := await _anchors_page(ledger, partition, after):
        for anchor in page:
            yield anchor
        after = page[-1].last


async def _entries_in_range(
    ledger: Ledger, partition: int, start: str, anchor: Anchor
) -> AsyncIterator[Entry]:
    """The stored entries of an anchor's range. They are not checked against the anchor."""
    size = min(anchor.count + 1, PAGE_SIZE)
    while page := await _entries_page(ledger, partition, start, size):
        for entry in page:
            if parse_position(entry.id) > parse_position(anchor.last):
                return
            yield entry
        start = page[-1].id


async def _entries_page(ledger: Ledger, partition: int, after: str, size: int) -> list[Entry]:
    return await _read_with_retry(lambda: ledger.entries(partition, after, size))


async def _anchors_page(ledger: Ledger, partition: int, after: str) -> list[Anchor]:
    return await _read_with_retry(lambda: ledger.anchors(partition, after, PAGE_SIZE))


async def _read_with_retry(read: Callable[[], Awaitable[T]]) -> T:
    """Read one page, and again after each of the pauses: one late reply must not end an export of thousands
    of pages. Raises StoreUnavailable if Redis still doesn't answer.
    """
    for pause in PAUSES:
        try:
            return await read()
        except StoreUnavailable:
            await asyncio.sleep(pause)
    return await read()
