"""One message for many reviews."""

from __future__ import annotations

from hitl_core.model import DEFAULT_PLACE, is_digest_id
from hitl_core.store import MAX_DIGEST, Digest, Store, digest_at
from tests.store.steps import HERE, OPS, THERE, created, waiting_cards
from tests.support.jobs import begin_all, finish_all


class DigestsContract:
    async def test_first_cards_are_taken_into_a_digest_once(self, store: Store):
        """Given four first cards, of which one was begun; then the others are one digest's, in the order of
        their lane, whose message is a first post; a further one joins it; and the begun one is done alone."""
        ids = await waiting_cards(store, 5)
        begun = await store.take_job(DEFAULT_PLACE, "post")
        assert begun
        assert begun.review_id == ids[0]
        assert await store.first_posts(DEFAULT_PLACE, 9) == [(one, DEFAULT_PLACE) for one in ids]
        place = DEFAULT_PLACE

        id = await store.add_to_digest(place, place, "g", "billing", ids[:4])
        assert id
        assert is_digest_id(id)
        digest = await store.digest(id)
        assert digest == Digest(
            id, place, place, "billing", None, tuple(ids[1:4]), tuple(ids[1:4]), 3
        )
        snapshot = await store.load(ids[1])
        assert snapshot
        assert (digest_at(snapshot, place), digest_at(snapshot, OPS)) == (id, None)
        assert await store.add_to_digest(place, place, "g", "billing", ids[:4]) is None
        await store.finish_job(begun)
        job = await store.take_job(place, "post")
        assert job
        assert (job.kind, job.review_id, job.place) == ("digest", id, place)
        assert await store.record_digest_message(id, HERE) == HERE
        assert await store.record_digest_message(id, THERE) == HERE
        await store.finish_new(id, ids[1:4])
        await store.finish_job(job)

        assert await store.add_to_digest(place, place, "g", "billing", ids[4:]) == id
        [again] = await begin_all(store)
        assert (again.kind, again.review_id) == ("digest", id)
        await store.finish_job(again)
        digest = await store.digest(id)
        assert digest
        assert (digest.message, digest.waiting, digest.new) == (HERE, tuple(ids[1:]), (ids[4],))
        assert (digest.total, await begin_all(store)) == (4, [])

    async def test_digests_hide_no_card_behind_them(self, store: Store):
        """Given two digests that wait for their message before some cards; then the first cards are those
        behind them: a lane with more cards than it should have made no digest."""
        ids, place = await waiting_cards(store, 5), DEFAULT_PLACE
        for group, one in (("g", ids[0]), ("h", ids[1])):
            assert await store.add_to_digest(place, place, group, "billing", [one])
        assert await store.first_posts(place, 2) == [(one, place) for one in ids[2:4]]
        assert await store.first_posts(place, 9) == [(one, place) for one in ids[2:]]

    async def test_a_digest_counts_what_waits(self, store: Store):
        """Each change is one job of its message; what is no change is none."""
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", ids[:1])
        assert id
        await store.record_digest_message(id, HERE)
        await finish_all(store)

        await store.update_digest(id, ids[0], waits=True)
        assert [job.kind for job in await finish_all(store)] == []
        await store.update_digest(id, ids[0], waits=False)
        await store.update_digest(id, ids[0], waits=False)
        assert [job.kind for job in await finish_all(store)] == ["digest"]
        digest = await store.digest(id)
        assert digest
        assert (digest.waiting, digest.total) == ((), 1)
        await store.update_digest(id, ids[0], waits=True)
        digest = await store.digest(id)
        assert digest
        assert digest.new == (ids[0],), "it may have left before the message was there"
        assert [job.kind for job in await finish_all(store)] == ["digest"]
        await store.redraw_digest(id)
        assert [job.kind for job in await finish_all(store)] == ["digest"]
        assert await store.record_digest_message(id, THERE, HERE) == THERE
        assert not await store.update_digest(f"d0-{'f' * 32}", ids[0], waits=True)
        assert await store.digest(f"d0-{'f' * 32}") is None
        assert await store.digest("nonsense") is None
        digest = await store.digest(id)
        assert digest
        assert (digest.waiting, digest.new) == ((ids[0],), (ids[0],))

    async def test_a_digest_that_is_done_takes_no_more(self, store: Store):
        """Given a digest whose message is posted and where nothing waits any more; when more reviews come,
        then they get a digest with a new message, because a change of a message notifies nobody."""
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        first = await store.add_to_digest(place, place, "g", "billing", ids[:1])
        assert first
        await store.record_digest_message(first, HERE)
        await store.update_digest(first, ids[0], waits=False)

        second = await store.add_to_digest(place, place, "g", "billing", ids[1:])

        assert second
        assert second != first
        digest = await store.digest(second)
        assert digest
        assert (digest.message, digest.waiting) == (None, (ids[1],))

    async def test_a_digest_without_a_message_takes_nothing_back(self, store: Store):
        """Given a digest of which nothing waits before it is posted; when a review waits again, then the
        digest says that it will not show it, and it gets a card of its own."""
        review, place = await created(store), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", [review.id])
        assert id
        assert await store.update_digest(id, review.id, waits=True)
        assert await store.update_digest(id, review.id, waits=False)
        assert not await store.update_digest(id, review.id, waits=True)
        await finish_all(store)
        for _ in range(2):
            await store.leave_digest(id, place, [review.id])
        assert [job.kind for job in await finish_all(store)] == ["card"]
        snapshot = await store.load(review.id)
        assert snapshot
        assert digest_at(snapshot, place) is None

    async def test_a_review_that_leaves_a_digest_has_no_message(self, store: Store):
        """And the digest's own is updated. The others stay."""
        ids, place = await waiting_cards(store, 2), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", ids)
        assert id
        await store.record_digest_message(id, HERE)
        for one in ids:
            await store.record_post(one, place, HERE)
            await store.record_shown_version(one, place, 1)
        await finish_all(store)
        await store.leave_digest(id, place, ids[:1])
        assert {(job.kind, job.review_id) for job in await finish_all(store)} == {
            ("digest", id),
            ("card", ids[0]),
        }
        alone, stays = [await store.load(one) for one in ids]
        assert alone
        assert stays
        assert (alone.posts, alone.shown) == ({}, {})
        assert stays.posts == {place: HERE}
        digest = await store.digest(id)
        assert digest
        assert digest.waiting == (ids[1],)

    async def test_a_review_that_leaves_a_digest_in_its_own_job_gets_a_card(self, store: Store):
        """Given a job of a review that takes it out of its digest; when that job is done, then its first card
        is still to do: it was taken for the job that had just been done."""
        review, place = await created(store), DEFAULT_PLACE
        id = await store.add_to_digest(place, place, "g", "billing", [review.id])
        assert id
        await store.record_digest_message(id, HERE)
        await finish_all(store)
        await store.redraw(review.id, place, "card")
        [job] = await begin_all(store)
        await store.leave_digest(id, place, [review.id])
        await store.finish_job(job)
        assert "card" in [job.kind for job in await finish_all(store)]

    async def test_a_digest_is_bounded(self, store: Store):
        """Given a digest that has no room for all that comes; then a new one takes them."""
        ids, place = await waiting_cards(store, 3), DEFAULT_PLACE
        first = await store.add_to_digest(place, place, "g", "billing", ids[:1])
        padding = [f"0-{n:032x}" for n in range(MAX_DIGEST - 2)]
        second = await store.add_to_digest(place, place, "g", "billing", [ids[1], *padding])
        assert first == second
        third = await store.add_to_digest(place, place, "g", "billing", [ids[2], *padding])
        assert third not in (None, first)

    async def test_a_digest_that_can_not_be_shown_gives_its_cards_back(self, store: Store):
        """In their order, and for good: they come into no digest again."""
        place = DEFAULT_PLACE
        [first, *later] = await waiting_cards(store, 2)
        id = await store.add_to_digest(place, place, "g", "billing", [first])
        assert id
        [job] = await begin_all(store)
        await store.dissolve_digest(id, place)
        await store.finish_job(job)
        digest = await store.digest(id)
        assert digest
        assert (digest.closed, digest.waiting) == (True, ())
        assert not await store.update_digest(id, first, waits=True)
        assert await store.add_to_digest(place, place, "g", "billing", [first]) is None
        [card] = await begin_all(store)
        assert (card.kind, card.review_id, card.place) == ("card", first, place)
        snapshot = await store.load(first)
        assert snapshot
        assert digest_at(snapshot, place) is None
        await store.finish_job(card)
        other = await store.add_to_digest(place, place, "g", "billing", later)
        assert other not in (None, id)
        await finish_all(store)
        assert (await store.lanes(), (await store.backlog()).waiting) == ([], 0)
