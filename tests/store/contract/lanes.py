"""The queue of a conversation: one bot holds it, and does its jobs in order."""

from __future__ import annotations

import asyncio

import pytest

from hitl_core.model import DEFAULT_PLACE
from hitl_core.review import claims, commands
from hitl_core.store import Store
from hitl_core.store.contract import lane_of
from tests.store.steps import Pass, approved, created, stepped
from tests.support.builders import review_of, write_of
from tests.support.jobs import finish_all


class LanesContract:
    async def test_a_queue_is_in_the_order_of_submission(self, store: Store, let_pass: Pass):
        """Given reviews that come while one is being shown, then each is begun in turn, once (faults 9)."""
        reviews: list[str] = []
        for _ in range(5):
            reviews.append((await created(store, thread_id="t")).id)
            await let_pass(0.001)
        assert await store.lanes() == [DEFAULT_PLACE]

        done = await finish_all(store)

        assert [job.review_id for job in done] == reviews
        assert {(job.kind, job.attempts) for job in done} == {("card", 1)}
        assert await store.lanes() == []

    async def test_a_lane_is_held_by_one_bot(self, store: Store, let_pass: Pass):
        assert await store.hold_lanes(["a", "b"], "bot-1", 30) == {"a", "b"}
        assert await store.hold_lanes(["a", "c"], "bot-2", 30) == {"c"}
        assert await store.hold_lanes(["a"], "bot-1", 30) == {"a"}
        await store.release_lane("a", "bot-2")
        assert await store.hold_lanes(["a"], "bot-2", 30) == set()
        await store.release_lane("a", "bot-1")
        assert await store.hold_lanes(["a", "b"], "bot-2", 30) == {"a"}
        await let_pass(35)
        assert await store.hold_lanes(["a", "b"], "bot-1", 30) == {"a", "b"}
        assert await store.hold_lanes([], "bot-1", 30) == set()

    async def test_an_event_wakes_the_bots(self, store: Store):
        """A bot that waits is woken by the write itself, and told in which lane."""
        await store.lane_hints(0.01)
        reader = asyncio.create_task(store.lane_hints(20))
        await asyncio.sleep(0)

        await created(store)

        assert await asyncio.wait_for(reader, 60) == [DEFAULT_PLACE]

    async def test_bookkeeping_changes_no_card(self, store: Store):
        """What changes no card gives no bot anything to do: awaited, claimed, renewed, started."""
        review = await created(store)
        review = await approved(store, review)
        await finish_all(store)
        at = await store.now()

        review = await stepped(store, claims.set_waiting_process(review, "p1", at))
        review = await stepped(store, claims.claim(review, "p1", at, 30))
        review = await stepped(store, claims.renew(review, 1, at, 30))
        review = await stepped(store, claims.start(review, 1, "1", at))
        assert await store.lanes() == []

        await stepped(store, claims.report(review, 1, {"1": "sent"}, at))
        assert [job.review_id for job in await finish_all(store)] == [review.id]

    async def test_what_people_changed_comes_first(self, store: Store, let_pass: Pass):
        """Faults 9: given cards that are shown, of which one lapsed and then another one was decided, and one
        that was never shown; then the decided one is drawn first, and no post waits for a drawing."""
        one, two = await created(store), await created(store)
        await finish_all(store)
        at = await store.now()
        new = await created(store)
        await stepped(store, commands.cancel(one, None, "why", at))
        await let_pass(0.01)
        await approved(store, two)

        post = await store.take_job(DEFAULT_PLACE, "post")
        draws: list[str] = []
        while job := await store.take_job(DEFAULT_PLACE, "draw"):
            draws.append(job.review_id)
            await store.finish_job(job)

        assert post is not None
        assert post.review_id == new.id
        assert draws == [two.id, one.id]

    async def test_the_backlog_is_counted(self, store: Store, let_pass: Pass):
        assert await store.backlog() == (0, None)
        first = await created(store)
        await let_pass(0.01)
        await created(store)
        waiting, oldest = await store.backlog()
        assert (waiting, oldest) == (2, pytest.approx(first.created_at, abs=0.001))

    async def test_who_waits_has_taken_no_slot(self, store: Store, let_pass: Pass):
        """Given 50 callers that wait and never call; when the slot is free, then the next one may call."""
        assert await store.take_slot("update", 60) == 0
        assert all([0 < await store.take_slot("update", 60) <= 60 for _ in range(50)])

        assert await store.take_slot("post", 20) == 0
        await let_pass(25)
        assert await store.take_slot("post", 20) == 0

    async def test_a_job_that_is_skipped_stays_in_its_queue(self, store: Store):
        first, second = await created(store), await created(store)
        lane = lane_of(DEFAULT_PLACE)
        job = await store.take_job(lane, "post")
        assert job
        await store.put_back_job(job)
        other = await store.take_job(lane, "post", [job.member])
        assert other
        assert {job.review_id, other.review_id} == {first.id, second.id}
        assert await store.take_job(lane, "post", [job.member, other.member]) is None
        again = await store.take_job(lane, "post")
        assert again
        assert again.member == job.member

    async def test_turns_are_shared(self, store: Store, let_pass: Pass):
        """Each turn is one call, a few may come at once, and a pause is everybody's."""
        assert [await store.take_slot("one", 10) for _ in range(3)] == [
            pytest.approx(at, abs=5) for at in (0, 10, 10)
        ]
        assert [await store.take_slot("many", 10, 3) for _ in range(4)] == [
            pytest.approx(at, abs=5) for at in (0, 0, 0, 10)
        ]
        assert [await store.take_slot("free", 0) for _ in range(3)] == [0, 0, 0]
        await store.pause_slots("free", 20)
        assert await store.take_slot("free", 0) > 0
        await let_pass(25)
        assert await store.take_slot("free", 0) == 0

    async def test_first_posts_are_ordered_by_when_they_should_be_shown(self, store: Store):
        """Given three reviews, of which the last one ends soon; then its card is first, and the others follow
        in the order of submission."""
        now = await store.now()
        writes = [
            write_of(review_of(thread_id=f"t-{n}", now=now - 10 + n), wake=True)._replace(
                show_by=at
            )
            for n, at in enumerate((None, now - 9, now - 1800))
        ]
        for write in writes:
            assert await store.commit(write)
        shown: list[str] = []
        while job := await store.take_job(DEFAULT_PLACE, "post"):
            await store.finish_job(job)
            shown.append(job.review_id)
        assert shown == [writes[n].review.id for n in (2, 0, 1)]
        assert (await store.lanes(), (await store.backlog()).waiting) == ([], 0)
