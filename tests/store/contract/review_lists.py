"""What is due, ready or live, and what a thread has."""

from __future__ import annotations

import pytest

from hitl_core.model import Review, short_id
from hitl_core.review import Reviews
from hitl_core.store import Store, Write
from tests.store.steps import Pass, approved, chain_of, created, finished
from tests.support.builders import call, review_of, write_of


class ReviewListsContract:
    async def test_due_is_a_peek_in_order_of_time(self, store: Store, let_pass: Pass):
        """Given deadlines past and to come, then what is past is due, the latest last, at each look."""
        now = await store.now()
        ids: dict[float, str] = {}
        for late in (-1.0, -30.0, -2.0, 3600.0):
            review, event = review_of(now=now, partitions=store.partitions)
            ids[late] = review.id
            assert await store.commit(Write(review, event, {}, now + late, None, False))

        assert set(await store.due_reviews()) == {ids[-30.0], ids[-2.0], ids[-1.0]}
        if store.partitions == 1:
            assert await store.due_reviews() == [ids[-30.0], ids[-2.0], ids[-1.0]]
            assert await store.due_reviews(limit=2) == [ids[-30.0], ids[-2.0]]

    async def test_what_comes_due_is_due_then_and_not_before(self, store: Store, let_pass: Pass):
        """By the store's clock."""
        review, event = review_of(now=await store.now(), partitions=store.partitions)
        soon = await store.now() + 30
        await store.commit(Write(review, event, {}, soon, soon, False))
        assert await store.due_reviews() == []
        assert await store.ready_reviews(review.agent) == []

        await let_pass(31)

        assert await store.due_reviews() == [review.id]
        assert await store.ready_reviews(review.agent) == [review.id]

    async def test_an_index_follows_the_newest_write(self, store: Store):
        """Moved to another time, or taken out with None."""
        now = await store.now()
        review, event = review_of(now=now, partitions=store.partitions)
        await store.commit(Write(review, event, review.args, now - 1, now - 1, False))
        assert await store.due_reviews() == await store.ready_reviews(review.agent) == [review.id]

        review = review.model_copy(update={"version": 2})
        head = await chain_of(store, review.id)
        await store.commit(Write(review, event, {}, now + 3600, None, False, head))
        assert await store.due_reviews() == await store.ready_reviews(review.agent) == []

        review = review.model_copy(update={"version": 3})
        head = await chain_of(store, review.id)
        await store.commit(Write(review, event, {}, None, now - 1, False, head))
        assert await store.due_reviews() == []
        assert await store.ready_reviews(review.agent) == [review.id]

    async def test_how_much_there_is_to_do(self, store: Store):
        """Counted without what is done; the oldest, and what has been due for the longest."""
        assert await store.workload() == (0, None, None)
        now = await store.now()
        for age, due in ((5.0, None), (50.0, now + 60), (20.0, now - 3), (1.0, now - 7)):
            review, event = review_of(now=now - age, partitions=store.partitions)
            await store.commit(Write(review, event, {}, due, None, False))
        await finished(store, await created(store))

        gauge = await store.workload()

        assert gauge == (4, pytest.approx(now - 50, abs=1e-3), pytest.approx(now - 7, abs=1e-3))

    async def test_live_is_what_is_not_done_the_oldest_first(self, store: Store, let_pass: Pass):
        """Whatever its thread and agent; a page at a time."""
        old = await created(store, thread_id="one")
        await let_pass(0.002)
        new = await created(store, thread_id="two", agent="support")
        await let_pass(0.002)
        gone = await created(store, thread_id="three")
        assert await store.live_ids() == [old.id, new.id, gone.id]

        await finished(store, gone)
        await approved(store, old)

        assert await store.live_ids() == [old.id, new.id]
        assert await store.live_ids(limit=1) == [old.id]
        [first] = await store.live_reviews(limit=1)
        assert first == (pytest.approx(old.created_at), old.id)
        assert [seat.id for seat in await store.live_reviews(5, first)] == [new.id]
        assert await store.live_reviews(5, (await store.live_reviews())[-1]) == []

    async def test_pages_miss_none_of_the_same_time(self, store: Store):
        """Given reviews of one moment, then each is on one page, however short these
        are."""
        now = await store.now()
        made = [
            review_of([call("ask")], now=now, thread_id=f"t-{n}", partitions=store.partitions)
            for n in range(7)
        ]
        for each in made:
            assert await store.commit(write_of(each))
        found, after = [], None
        while page := await store.live_reviews(2, after):
            found += [seat.id for seat in page]
            after = page[-1]
        assert found == sorted(review.id for review, _ in made)

    async def test_ready_is_an_agents_own_in_order(self, store: Store):
        """The longest waiting first, no other agent's, at most `limit`."""
        now = await store.now()
        ids: list[str] = []
        for waited in (5, 50, 20):
            review, event = review_of(now=now, partitions=store.partitions, thread_id="one")
            ids.append(review.id)
            await store.commit(Write(review, event, {}, None, now - waited, False))
        other, event = review_of(agent="support", now=now, partitions=store.partitions)
        await store.commit(Write(other, event, {}, None, now - 1, False))

        assert await store.ready_reviews("billing") == [ids[1], ids[2], ids[0]]
        assert await store.ready_reviews("billing", limit=1) == [ids[1]]
        assert await store.ready_reviews("support") == [other.id]
        assert await store.ready_reviews("nobody") == []

    async def test_a_thread_lists_the_live_reviews_first(self, store: Store, let_pass: Pass):
        """Each part in the order of submission or completion; another thread's are not there."""
        first = await created(store, thread_id="mine")
        await let_pass(0.002)
        second = await created(store, thread_id="mine")
        await let_pass(0.002)
        third = await created(store, thread_id="mine")
        await created(store, thread_id="other")
        assert await store.thread_ids("mine") == [first.id, second.id, third.id]

        await finished(store, second)
        await let_pass(0.002)
        await finished(store, first)

        assert await store.thread_ids("mine") == [third.id, second.id, first.id]
        assert await store.thread_ids("nobody's") == []

    async def test_a_thread_is_read_in_pages(self, store: Store, let_pass: Pass):
        """A page has at most `limit`; a review that becomes done between two pages is on one of them, and
        so is each of those after it.
        """
        made: list[Review] = []
        for _ in range(6):
            made.append(await created(store, thread_id="long"))
            await let_pass(0.002)
        await finished(store, made[0])
        ids = [review.id for review in made]
        assert await store.thread_ids("long", 2) == ids[1:3]
        first = await store.thread_reviews("long", 2)
        assert [(each.id, each.is_done) for each in first] == [(id, False) for id in ids[1:3]]

        await let_pass(0.002)
        await finished(store, made[1])
        found, after = [*first], first[-1]
        while page := await store.thread_reviews("long", 2, after):
            assert len(page) <= 2
            found, after = [*found, *page], page[-1]

        assert [each.id for each in found] == [*ids[1:6], ids[0], ids[1]]
        assert [each.is_done for each in found[-2:]] == [True, True]
        assert await store.thread_reviews("long", 2, found[-1]) == []

    async def test_a_reader_of_live_reviews_reads_no_done_ones(self, store: Store):
        """However many are done: only pages with live ones are read, and one more."""
        for _ in range(3):
            await finished(store, await created(store, thread_id="long"))
        live = await created(store, thread_id="long")
        reviews = Reviews(store)
        assert [id async for id in reviews.live_ids("long")] == [live.id]
        listed = [each async for each in reviews.thread_reviews("long")]
        assert [each.is_done for each in listed] == [False, True, True, True]

    async def test_ids_are_found_by_their_beginning(self, store: Store):
        """Live or done; never by a pattern, and at most as many as asked for."""
        live, done = await created(store), await created(store)
        await finished(store, done)
        for review in (live, done):
            assert await store.find_ids(short_id(review.id)) == [review.id]
            assert await store.find_ids(review.id) == [review.id]
        assert await store.find_ids(short_id(live.id), live=True) == [live.id]
        assert await store.find_ids(short_id(done.id), live=True) == []
        for prefix in ("0-*", "0-????", "*", "", "0-zzzz", "9-0000", f"{live.id}0"):
            assert await store.find_ids(prefix) == []
            assert await store.find_ids(prefix, live=True) == []
