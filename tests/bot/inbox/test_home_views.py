"""What a Home shows is kept in the store, by bots of any version."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.inbox import HomeView
from bot.inbox.home.views import HomeViews
from hitl_core.store import MemoryStore
from tests.support.interleaved_store import InterleavedStore

ANN = "slack:U0ANN"


@pytest.mark.parametrize("stored", [b'{"page": 3, "more": 1}', b"[]", b"[1]", b"{", b"7"])
async def test_the_home_of_another_version_is_drawn_from_its_beginning(stored: bytes) -> None:
    """Given a view that a bot of another version stored; then it is as if none was: it was a TypeError, and
    the Home could not be updated."""
    store = MemoryStore()
    await store.save_temporary_value(f"home:{ANN}", stored, 60.0)

    assert await HomeViews(store).load(ANN) == HomeView()


async def test_what_another_bot_recorded_meanwhile_is_not_undone() -> None:
    """Given a Home whose page is turned; when a form covers it meanwhile, then it is covered, and on that
    page: an update closed the form, with everything that was typed."""
    store = InterleavedStore()
    views = HomeViews(store)
    await views.change(ANN, lambda view: replace(view, message="m"))
    store.meanwhile = lambda: views.change(ANN, lambda view: replace(view, is_covered=True))
    await views.change(ANN, lambda view: replace(view, page=2))
    assert await views.load(ANN) == HomeView(page=2, message="m", is_covered=True)


async def test_the_view_of_another_version_is_replaced() -> None:
    store = MemoryStore()
    await store.save_temporary_value(f"home:{ANN}", b"[]", 60.0)
    await HomeViews(store).change(ANN, lambda view: replace(view, page=2))
    assert await HomeViews(store).load(ANN) == HomeView(page=2)
