"""What a Home shows is kept in the store, by bots of any version."""

from __future__ import annotations

import pytest

from bot.inbox import HomeView
from bot.inbox.home.views import HomeViews
from hitl_core.store import MemoryStore

ANN = "slack:U0ANN"


@pytest.mark.parametrize("stored", [b'{"page": 3, "more": 1}', b"[]", b"[1]", b"{", b"7"])
async def test_the_home_of_another_version_is_drawn_from_its_beginning(stored: bytes) -> None:
    """Given a view that a bot of another version stored; then it is as if none was: it was a TypeError, and
    the Home could not be updated."""
    store = MemoryStore()
    await store.save_temporary_value(f"home:{ANN}", stored, 60.0)

    assert await HomeViews(store).load(ANN) == HomeView()
