"""Adds anchors to the audit, and trims old entries. Several bots can run it at the same time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from hitl_core.audit.entry import Anchor, parse_position, read_hash
from hitl_core.audit.ledger import AuditedStore, Ledger
from hitl_core.errors import StoreUnavailable, safe_message

log = logging.getLogger(__name__)

#: How often the sealer runs, in seconds.
INTERVAL = 60.0
#: The most entries of one anchor.
MAX_RANGE = 1000


class Sealer:
    """`report` gets the error of each round, or None."""

    def __init__(
        self,
        store: AuditedStore,
        report: Callable[[Exception | None], None] = lambda error: None,
        *,
        interval: float = INTERVAL,
    ) -> None:
        self._store, self._report, self._interval = store, report, interval

    async def run(self) -> None:
        """Never ends."""
        while True:
            self._report(await self._seal_all())
            await asyncio.sleep(self._interval)

    async def _seal_all(self) -> Exception | None:
        """The first error. A partition whose audit is damaged keeps no other from its anchors."""
        first: Exception | None = None
        for partition in range(self._store.partitions):
            try:
                await trim(self._store, partition)  # it frees memory, and `_seal` needs some
                await _seal(self._store.ledger, partition)
            except Exception as error:  # also one that is not ours, so that `run` never ends
                log.warning("The audit could not be sealed: %s", safe_message(error))
                first = first or error
                if isinstance(error, StoreUnavailable):
                    break
        return first


async def seal(store: AuditedStore) -> None:
    """Add anchors over all entries that have none yet. Raises StoreUnavailable, StoreError."""
    for partition in range(store.partitions):
        await _seal(store.ledger, partition)


async def _seal(ledger: Ledger, partition: int) -> None:
    """If another bot was faster, continue after its anchor."""
    while True:
        last = await ledger.last_anchor(partition)
        entries = await ledger.entries(partition, last.last if last else "", MAX_RANGE)
        if not entries:
            return
        pairs = [(entry.id, read_hash(entry.line)) for entry in entries]
        await ledger.add_anchor(partition, Anchor.from_entries(pairs, last.root if last else ""))


async def trim(store: AuditedStore, partition: int) -> None:
    """Delete the partition's entries that were exported and are older than the retention. Only whole ranges
    are deleted, so that the rest can still be verified. Raises StoreUnavailable, StoreError.
    """
    exported = await store.ledger.last_export(partition)
    if exported is None:
        return
    before, end = await store.now() - store.ledger.retention, parse_position(exported.last)
    old: Anchor | None = None
    while anchors := await store.ledger.anchors(partition, old.last if old else "", 100):
        for anchor in anchors:
            position = parse_position(anchor.last)
            if position > end or position[1] >= before * 1000:
                break
            old = anchor
        else:
            continue
        break
    if old is not None:
        await store.ledger.trim(partition, old)
