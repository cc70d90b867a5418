"""The contract of a whole store: all parts together."""

from __future__ import annotations

from typing import Protocol

from hitl_core.store.contract.audited_fields import AuditedFields
from hitl_core.store.contract.dead_letters import DeadLetters
from hitl_core.store.contract.digests import Digests
from hitl_core.store.contract.foreign_keys import ForeignKeys
from hitl_core.store.contract.hints import Hints
from hitl_core.store.contract.history import History
from hitl_core.store.contract.key_values import ChannelData, Coordination, TemporaryValues, Tokens
from hitl_core.store.contract.lanes import Lanes
from hitl_core.store.contract.review_lists import ReviewLists
from hitl_core.store.contract.reviews import ReviewStore


class Store(
    ReviewStore,
    AuditedFields,
    ReviewLists,
    History,
    Hints,
    Lanes,
    DeadLetters,
    Digests,
    Coordination,
    Tokens,
    ChannelData,
    TemporaryValues,
    ForeignKeys,
    Protocol,
):
    """Times are seconds since the epoch by the store's own clock.

    Some methods read all partitions, which may be on several servers. If one of them is missing, they raise
    StoreUnavailable, too: what it holds is unknown, which is not "nothing". A caller that goes on with the
    others passes the set `missing`: the partitions that gave no answer are added to it, and what they hold is
    left out. Then StoreUnavailable means that no partition answered.

    Every method raises StoreUnavailable when the store doesn't answer in time; a write that raised it may
    have happened. So every write is safe to repeat.
    """

    #: Over how many Redis hash tags the reviews are spread. The partition is part of every review id.
    partitions: int

    async def now(self) -> float: ...

    async def missing_partitions(self) -> set[int]:
        """The partitions that are known to be missing, without a read: their server gave no answer a moment
        ago, and that of another partition may still answer. Never raises.
        """
        ...

    async def close(self) -> None: ...
