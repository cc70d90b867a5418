"""Heartbeats, and what is held after a loss."""

from __future__ import annotations

from hitl_core.model import STARTED_MARK
from hitl_core.store import Store
from tests.store.steps import Pass, approved, created, decided, next_write


class HistoryContract:
    async def test_a_process_is_alive_until_its_last_beat_is_old(
        self, store: Store, let_pass: Pass
    ):
        """Each beat counts again."""
        assert not await store.is_alive("p1")
        await store.send_heartbeat("p1", 20)
        assert await store.is_alive("p1")
        assert not await store.is_alive("p2")
        await store.send_heartbeat("p1", 60)
        await let_pass(25)
        assert await store.is_alive("p1")
        await let_pass(40)
        assert not await store.is_alive("p1")

    async def test_a_held_review_stays_as_it_is_until_its_release(self, store: Store):
        """T54: given reviews that are held; then nothing is written for them and none is due or ready; what
        is new goes on; the release of one puts it back."""
        one, two = await created(store, thread_id="one"), await created(store, thread_id="two")
        ready = await approved(store, two)
        assert await store.hold_live_reviews() == 2
        new = await created(store, thread_id="three")

        snapshot = await store.load(one.id)
        assert snapshot is not None
        assert snapshot.held
        decision = await next_write(store, decided(one, await store.now()))
        assert not await store.commit(decision)
        await store.unschedule(ready.id, ready.agent)
        assert await store.due_reviews() == []
        assert await store.ready_reviews(ready.agent) == []
        held = await store.held_reviews()  # both may be of one moment
        assert {each.id for each in held} == {one.id, two.id}
        assert await store.commit(await next_write(store, decided(new, await store.now())))

        assert await store.commit(decision._replace(releases=True))
        outline = await store.load_outline(one.id)
        assert outline is not None
        assert not outline.held
        assert (await store.check_history()).held == 1

    async def test_a_release_that_knows_less_than_is_stored_is_a_conflict(self, store: Store):
        """Given a release that was decided before an agent noted that it has started a call; then it must be
        decided again, with that."""
        review = await created(store)
        await store.hold_live_reviews()
        write = (await next_write(store, decided(review, 1.0)))._replace(releases=True)
        await store.record_mark(review.id, "read:anything else")
        await store.record_mark(review.id, f"{STARTED_MARK}1")
        assert not await store.commit(write)

        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert snapshot.held
        assert await store.commit(write._replace(started_marks=len(snapshot.started_marks)))

    async def test_a_review_is_held_since_the_first_hold(self, store: Store, let_pass: Pass):
        """Given a second hold, with a new review; then each says since when it is held; released and held
        again, since the last hold."""
        begin, first = await store.now(), await created(store)
        await store.hold_live_reviews()
        await let_pass(0.01)
        between, second = await store.now(), await created(store)
        await store.hold_live_reviews()
        since = {each.id: each.since for each in await store.held_reviews()}
        assert begin - 0.001 <= since[first.id] < between <= since[second.id] + 0.001
        for id, at in since.items():
            for load in (store.load, store.load_outline):
                snapshot = await load(id)
                assert snapshot is not None
                assert snapshot.held_since == at

        released = (await next_write(store, decided(first, 1.0)))._replace(releases=True)
        assert await store.commit(released)
        snapshot = await store.load(first.id)
        assert snapshot is not None
        assert snapshot.held_since is None
        await let_pass(0.01)
        await store.hold_live_reviews()
        again = {each.id: each.since for each in await store.held_reviews()}
        assert again[first.id] > again[second.id] == since[second.id]

    async def test_all_live_reviews_are_held_however_many(self, store: Store):
        live = {(await created(store, thread_id=f"t-{n}")).id for n in range(1001)}
        assert await store.hold_live_reviews() == len(live)
        assert {each.id for each in await store.held_reviews(2000)} == live

    async def test_a_vote_to_cancel_is_stored_and_the_review_is_still_held(self, store: Store):
        review = await created(store)
        await store.hold_live_reviews()
        write = await next_write(store, decided(review, await store.now()))
        assert await store.commit(write._replace(stays_held=True, due_at=None, ready_at=None))
        snapshot = await store.load(review.id)
        assert snapshot is not None
        assert (snapshot.held, snapshot.review.version) == (True, 2)
        assert await store.ready_reviews(review.agent) == []

    async def test_the_history_is_another_one_after_a_hold(self, store: Store):
        await store.check_history()
        before = store.history
        await store.check_history()
        assert store.history == before
        await store.hold_live_reviews()
        assert store.history != before

    async def test_a_review_that_is_not_held_is_not_unscheduled(self, store: Store):
        review = await approved(store, await created(store))
        before = await store.ready_reviews(review.agent)
        await store.unschedule(review.id, review.agent)
        assert await store.ready_reviews(review.agent) == before
