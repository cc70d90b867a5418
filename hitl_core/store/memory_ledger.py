"""The audit in memory."""

from __future__ import annotations

import math

from hitl_core.audit.anchor import Anchor, place_of
from hitl_core.store.ledger import Entry


class MemoryLedger:
    """See `Ledger` for what each method promises."""

    retention = math.inf

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._anchors: list[Anchor] = []
        self._exported: Anchor | None = None
        self._count = 0

    def add(self, line: str, at: float) -> None:
        self._count += 1
        self._entries.append(Entry(f"0:{int(at * 1000)}-{self._count}", line))

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]:
        found = [e for e in self._entries if not after or place_of(e.id) > place_of(after)]
        return found[:limit]

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        found = [a for a in self._anchors if not after or place_of(a.last) > place_of(after)]
        return found[:limit]

    async def last_anchor(self, partition: int) -> Anchor | None:
        return self._anchors[-1] if self._anchors else None

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        if (self._anchors[-1].root if self._anchors else "") != anchor.prev:
            return False
        self._anchors.append(anchor)
        return True

    async def exported(self, partition: int) -> Anchor | None:
        return self._exported

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        if self._exported is None or place_of(anchor.last) > place_of(self._exported.last):
            self._exported = anchor

    async def trim(self, partition: int, anchor: Anchor) -> None:
        end = place_of(anchor.last)
        self._entries = [entry for entry in self._entries if place_of(entry.id) > end]
        self._anchors = [each for each in self._anchors if place_of(each.last) >= end]
