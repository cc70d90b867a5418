"""The audit in memory."""

from __future__ import annotations

import math

from hitl_core.audit import Anchor, Entry, parse_position


class MemoryLedger:
    """See `Ledger` for the methods."""

    retention = math.inf

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._anchors: list[Anchor] = []
        self._last_export: Anchor | None = None
        self._count = 0

    def add(self, line: str, at: float) -> None:
        self._count += 1
        self._entries.append(Entry(f"0:{int(at * 1000)}-{self._count}", line))

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]:
        matches = [
            e for e in self._entries if not after or parse_position(e.id) > parse_position(after)
        ]
        return matches[:limit]

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        matches = [
            a for a in self._anchors if not after or parse_position(a.last) > parse_position(after)
        ]
        return matches[:limit]

    async def last_anchor(self, partition: int) -> Anchor | None:
        return self._anchors[-1] if self._anchors else None

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        if (self._anchors[-1].root if self._anchors else "") != anchor.prev:
            return False
        self._anchors.append(anchor)
        return True

    async def last_export(self, partition: int) -> Anchor | None:
        return self._last_export

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        if self._last_export is None or parse_position(anchor.last) > parse_position(
            self._last_export.last
        ):
            self._last_export = anchor

    async def trim(self, partition: int, anchor: Anchor) -> None:
        end = parse_position(anchor.last)
        self._entries = [entry for entry in self._entries if parse_position(entry.id) > end]
        self._anchors = [each for each in self._anchors if parse_position(each.last) >= end]
