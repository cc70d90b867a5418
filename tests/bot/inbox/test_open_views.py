"""Which views are open in place of a message, recorded by several bots at once."""

from __future__ import annotations

import pytest

from bot.inbox.open_views import MAX_WAIT, OPEN_FOR, OpenViews
from hitl_core.model import MessageRef
from hitl_core.review import Reviews
from tests.support.builders import START, person
from tests.support.interleaved_store import InterleavedStore

CARD = MessageRef(channel="teams", conversation="19:a@thread.tacv2", ts="1")
ANN, BOB = person("Ann"), person("Bob")


@pytest.fixture
def store() -> InterleavedStore:
    return InterleavedStore()


@pytest.fixture
def views(store: InterleavedStore) -> OpenViews:
    return OpenViews(Reviews(store))


async def close(views: OpenViews) -> None:
    await views.close("0-" + "a" * 32, CARD, ANN)


async def test_a_view_that_is_closed_while_an_update_is_postponed_stays_closed(
    store: InterleavedStore, views: OpenViews
) -> None:
    """The update came a minute later, although nothing was open."""
    await views.record(CARD, ANN)
    store.meanwhile = lambda: close(views)
    assert await views.postpone(CARD) == 0.0
    assert await views.postpone(CARD) == 0.0


async def test_a_view_that_is_opened_while_an_update_is_postponed_stays_open(
    store: InterleavedStore, views: OpenViews
) -> None:
    await views.record(CARD, ANN)
    store.time += OPEN_FOR / 2
    store.meanwhile = lambda: views.record(CARD, BOB)
    assert await views.postpone(CARD) == OPEN_FOR
    await close(views)
    assert await views.postpone(CARD) == OPEN_FOR


@pytest.mark.parametrize("first", [ANN, BOB])
async def test_of_two_who_open_and_close_at_once_each_counts(
    store: InterleavedStore, views: OpenViews, first: object
) -> None:
    """Ann closes while Bob opens, in both orders: his view is open, and hers is not."""
    await views.record(CARD, ANN)
    if first is ANN:
        store.meanwhile = lambda: views.record(CARD, BOB)
        await close(views)
    else:
        store.meanwhile = lambda: close(views)
        await views.record(CARD, BOB)
    store.time += OPEN_FOR / 2
    assert await views.postpone(CARD) == OPEN_FOR / 2
    await views.close("0-" + "a" * 32, CARD, BOB)
    assert await views.postpone(CARD) == 0.0


async def test_an_update_waits_five_minutes_however_often_people_press(
    store: InterleavedStore, views: OpenViews
) -> None:
    await views.record(CARD, ANN)
    while await views.postpone(CARD) > 0.0:
        assert store.time <= START + MAX_WAIT
        store.time += OPEN_FOR / 2
        await views.record(CARD, ANN)
    assert store.time == START + MAX_WAIT
