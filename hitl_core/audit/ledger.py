"""The contract of the audit: entries in the order in which they happened, and anchors over them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from hitl_core.audit.anchor import Anchor


class Entry(NamedTuple):
    """One line of the audit. `id` is its place: `<partition>:<number>-<number>`, rising in its partition."""

    id: str
    line: str


class Ledger(Protocol):
    """The audit as it is kept, partition by partition, in the order in which it happened.

    Anchors, each over a range of entries, follow one another without a gap. `after` is the id of an entry, or
    "" for the beginning. `retention` is for how long, in seconds, entries are kept once they were exported.
    """

    retention: float

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]: ...

    async def anchors(self, partition: int, after: str = "", limit: int = 1000) -> list[Anchor]:
        """Those that end behind `after`."""
        ...

    async def last_anchor(self, partition: int) -> Anchor | None: ...

    async def add_anchor(self, partition: int, anchor: Anchor) -> bool:
        """Add it behind the last one if that is its `prev`; else False."""
        ...

    async def last_export(self, partition: int) -> Anchor | None:
        """Up to which anchor the entries were exported."""
        ...

    async def mark_exported(self, partition: int, anchor: Anchor) -> None:
        """Never going back."""
        ...

    async def trim(self, partition: int, anchor: Anchor) -> None:
        """Forget all entries up to the end of this anchor, and all anchors before it."""
        ...


class AuditedStore(Protocol):
    """What the audit needs of a store."""

    partitions: int

    @property
    def ledger(self) -> Ledger: ...

    async def now(self) -> float:
        """Seconds since the epoch, by the store's clock."""
        ...
