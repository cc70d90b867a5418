"""Which reviews wait for whom, what somebody decided, and what a submit reads of its thread."""

from __future__ import annotations

import pytest

from hitl_core.model import Event
from hitl_core.review import decisions
from hitl_core.store import RejectedCall, Store, Write
from hitl_core.store.contract import MAX_REJECTED
from tests.store.steps import Pass, chain_of, created, decided, loaded, next_write, stepped
from tests.support.builders import person, proposal, review_of, write_of


class AudiencesContract:
    async def test_what_waits_for_somebody_is_found_by_audience(self, store: Store, let_pass: Pass):
        """Given reviews of two audiences; then each is found once, the oldest first, a page at a time."""
        ids: list[str] = []
        for audiences in (["user:U1", "place:a"], ["place:a"], ["group:S1"], ["user:U1"]):
            made = review_of(now=await store.now(), partitions=store.partitions)
            assert await store.commit(write_of(made)._replace(audiences_added=audiences))
            ids.append(made[0].id)
            await let_pass(0.002)

        both = await store.waiting_reviews(["user:U1", "place:a"])

        assert ([id for id, _ in both.reviews], both.total) == ([ids[0], ids[1], ids[3]], 3)
        assert both.reviews[0][1] == (await loaded(store, ids[0])).created_at
        page = await store.waiting_reviews(["user:U1", "place:a", "group:S1"], limit=2, offset=1)
        assert ([id for id, _ in page.reviews], page.total) == ([ids[1], ids[2]], 4)
        assert (
            await store.waiting_reviews([]) == await store.waiting_reviews(["user:U9"]) == ([], 0)
        )

    async def test_an_audience_that_is_left_waits_no_more(self, store: Store):
        """One joins, another leaves; a lost compare moves nobody."""
        review = await created(store)
        change = await next_write(store, decided(review, await store.now()))
        lost = change._replace(audiences_added=["user:U3"], chain="9:f")
        assert not await store.commit(lost)
        assert await store.commit(change._replace(audiences_added=["user:U1", "user:U2"]))
        again = (await loaded(store, review.id)).model_copy(update={"version": 3})
        event = Event(kind="reminded", review_id=review.id, at=1)
        write = write_of((again, event))._replace(
            chain=await chain_of(store, review.id),
            audiences_added=["user:U4"],
            audiences_removed=["user:U2", "user:U7"],
        )
        assert await store.commit(write)

        found = [(await store.waiting_reviews([f"user:U{n}"])).total for n in range(1, 6)]
        assert found == [1, 0, 0, 1, 0]

    async def test_what_somebody_decided_is_remembered(self, store: Store, let_pass: Pass):
        """The latest first, a review once, at the time of their last word; no other person's."""
        reviews = [await created(store, "ask", "ask", thread_id=f"t-{n}") for n in range(3)]
        for review in (reviews[0], reviews[1], reviews[0]):
            await let_pass(0.002)
            review = await loaded(store, review.id)
            key = next(action.key for action in review.actions if action.is_pending)
            at = await store.now()
            await stepped(store, decisions.decide(review, key, proposal(), person(), at))
        bos = decisions.decide(reviews[2], "1", proposal(), person("Bo"), await store.now())
        await stepped(store, bos)

        found = await store.recent_decisions(person().key)

        assert [id for id, _ in found] == [reviews[0].id, reviews[1].id]
        assert found[0][1] == pytest.approx(at, abs=1e-5)
        assert await store.recent_decisions(person().key, limit=1, offset=1) == [found[1]]
        assert [id for id, _ in await store.recent_decisions(person("Bo").key)] == [reviews[2].id]
        assert await store.recent_decisions(person("Eve").key) == []

    async def test_only_the_last_200_are_remembered(self, store: Store):
        """A list that nobody reads to its end doesn't grow without end."""
        ids: list[str] = []
        for n in range(203):
            review, _ = review_of(now=1000.0 + n, partitions=1)
            text = Event(kind="voted", review_id=review.id, at=1000.0 + n, by=person())
            await store.commit(Write(review, text, review.args, None, None, False))
            ids.append(review.id)

        found = [id for id, _ in await store.recent_decisions(person().key, limit=1000)]

        assert found == ids[:-201:-1]

    async def test_rejected_calls_are_an_agents_own_in_one_thread(self, store: Store):
        """The latest first, until they are removed; no other agent's, and none of another thread."""
        made: list[RejectedCall] = []
        for n in range(MAX_REJECTED + 3):
            review, _ = review_of(now=1000.0 + n, partitions=store.partitions)
            event = Event(kind="decided", review_id=review.id, at=1000.0 + n, by=person())
            made.append(RejectedCall(review.id, "1", "ask"))
            write = Write(review, event, review.args, None, None, False, rejected_added=made[-1:])
            assert await store.commit(write)
        agent, thread = "billing", "t-1"
        assert await store.rejected_calls(agent, thread) == made[:2:-1]
        assert await store.rejected_calls("other", thread) == []
        assert await store.rejected_calls(agent, "other") == []

        review, event = review_of(now=9000.0, partitions=store.partitions)
        gone = Write(review, event, review.args, None, None, False, rejected_removed=made[-1:])
        assert await store.commit(gone)
        assert await store.rejected_calls(agent, thread) == made[-2:2:-1]

    async def test_a_submit_reads_its_thread_in_one_step(self, store: Store):
        """Whether the thread has a live review, and whether this one is stored; what was rejected in it; and
        the time."""
        before = await store.now()
        review = await created(store)
        agent, thread, other = review.agent, review.thread_id, f"0-{'0' * 32}"
        state = await store.thread_state(agent, thread, review.id)
        assert (state.rejected, state.has_live, state.has_review) == ([], True, True)
        assert before <= state.now <= await store.now()
        state = await store.thread_state(agent, thread, other)
        assert (state.has_live, state.has_review) == (True, False)
        state = await store.thread_state(agent, "other", other)
        assert (state.rejected, state.has_live, state.has_review) == ([], False, False)

        found = await store.load(review.id)
        assert found is not None
        rejected = RejectedCall(review.id, "1", "ask")
        by = Event(kind="decided", review_id=review.id, at=1000.0, by=person())
        changed = {"version": 2, "status": "done", "done_at": state.now}
        done = review.model_copy(update=changed)
        chain = found.chain
        write = Write(done, by, {}, None, None, False, chain, rejected_added=[rejected])
        assert await store.commit(write)
        state = await store.thread_state(agent, thread, review.id)
        assert (state.rejected, state.has_live, state.has_review) == ([rejected], False, True)
        assert (await store.thread_state("other", thread, review.id)).rejected == []

    async def test_some_arguments_are_loaded_alone(self, store: Store):
        review = await created(store, "ask", "ask")
        names = ["2:1", "2:2", "9:1"]
        assert await store.load_arguments(review.id, names) == {"2:1": review.args["2:1"]}
        assert await store.load_arguments(review.id, []) == {}
        assert await store.load_arguments("0-" + "0" * 32, names) == {}
