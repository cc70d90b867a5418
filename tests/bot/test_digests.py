"""What digests read of the store."""

from __future__ import annotations

import pytest

from bot.outbox.digests.reviews import load_outlines
from hitl_core.errors import StoreUnavailable
from hitl_core.model import Snapshot
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore


class Away(MemoryStore):
    async def load_outline(self, review_id: str) -> Snapshot | None:
        raise StoreUnavailable("not now")


async def test_a_store_that_is_away_is_no_reason_to_give_a_digest_up() -> None:
    """Given a digest of several reviews and a lost reply; then the lane gets the error that it tries again,
    and not a group of errors, which would be a dead letter."""
    reviews = Reviews(Away(), retry_seconds=0.0)
    with pytest.raises(StoreUnavailable):
        await load_outlines(reviews, ["0-1", "0-2", "0-3"])
