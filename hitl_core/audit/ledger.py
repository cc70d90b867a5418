"""The contract of the audit's storage: entries in order of time, and anchors over them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from hitl_core.audit.entry import Anchor


class Entry(NamedTuple):
    """One line of the audit. `id` is `<partition>:<milliseconds>-<number>`, rising in its partition."""

    id: str
    line: str


class Ledger(Protocol):
    """The stored audit, in order of time within each partition.

    Each anchor covers a range of entries, and the ranges have no gaps. `after` is the id of an entry, or ""
    for the beginning. `retention` is for how many seconds an exported entry is kept.
    """

    retention: float

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]: ...

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        """The anchors that end after `after`."""
        ...

    async def last_anchor(self, partition: int) -> Anchor | None: ...

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        """Add the anchor if the last one is its `prev`; else return False."""
        ...

    async def last_export(self, partition: int) -> Anchor | None:
        """The last exported anchor: all entries up to it were exported."""
        ...

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        """Record the last exported anchor. An anchor before the recorded one is ignored."""
        ...

    async def trim(self, partition: int, anchor: Anchor) -> None:
        """Delete all entries up to the end of this anchor, and all anchors before it."""
        ...


class AuditedStore(Protocol):
    """What the audit needs of a store."""

    partitions: int

    @property
    def ledger(self) -> Ledger: ...

    async def now(self) -> float:
        """Seconds since the epoch, by the store's clock."""
        ...
