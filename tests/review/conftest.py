"""Reviews on a real Redis, as several processes have them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.review.open_reviews import Open


@pytest.fixture
async def open_reviews(redis_url: str) -> AsyncIterator[Open]:
    """One replica each: its own connections to the one Redis."""
    stores: list[RedisStore] = []

    async def make(url: str = redis_url, **options: Any) -> Reviews:
        store = await RedisStore.open(url)
        stores.append(store)
        return Reviews(store, **options)

    yield make
    for store in stores:
        await store.close()
