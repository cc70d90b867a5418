"""Jobs that can not be done."""

from __future__ import annotations

from hitl_core.model import DEFAULT_PLACE, Place
from hitl_core.store import Recheck, Store
from tests.store.steps import Pass, approved, created
from tests.support.jobs import begin_all, finish_all


class DeadLettersContract:
    async def test_dead_letters_come_back_when_they_are_asked_for(self, store: Store):
        """Given a buried job, then nobody gets it; revived, it is one that was begun before."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.move_to_dead_letters(job, "channel_not_found")
        await store.move_to_dead_letters(job, "channel_not_found")
        assert await store.lanes() == []

        assert await store.requeue_dead_letters() == 1
        assert await store.requeue_dead_letters() == 0

        [back] = await begin_all(store)
        assert (back.review_id, back.place, back.attempts) == (review.id, job.place, 2)

    async def test_what_changes_while_it_is_buried_is_tried_again(self, store: Store):
        """Promise 4: as a job with an earlier attempt, which may have posted a message. Otherwise the next
        one would post a second message without a look."""
        review = await created(store)
        [job] = await begin_all(store)
        await approved(store, review)

        await store.move_to_dead_letters(job, "channel_not_found")

        assert await store.count_dead_letters() == 0
        [again] = await begin_all(store)
        assert (again.attempts, again.first_at) == (2, job.first_at)

    async def test_what_changes_after_it_was_given_up_is_tried_again(self, store: Store):
        """Promise 4: the job that was given up may have posted a message, so the next one looks for it. That
        of another review doesn't."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.move_to_dead_letters(job, "the history can't be read")

        await approved(store, review)
        other = await created(store, thread_id="other")

        jobs = {one.review_id: (one.kind, one.attempts) for one in await finish_all(store)}
        assert jobs == {review.id: ("card", 2), other.id: ("card", 1)}

    async def test_a_check_comes_later_also_in_place_of_itself(self, store: Store, let_pass: Pass):
        """Given a card that was given up, and then its sweep too; then a sweep follows each of them, with the
        note of the first one, and the dead letters are those of one review."""
        review = await created(store)
        [job] = await begin_all(store)
        for _ in range(2):
            await store.move_to_dead_letters(job, "unknown", Recheck("sweep", 20.0, "12.0"))
            assert await store.lanes() == []
            await let_pass(25)
            [job] = await begin_all(store)
            assert (job.kind, job.review_id, job.note) == ("sweep", review.id, "12.0")
        assert await store.count_dead_letters() == 1

    async def test_the_dead_letters_of_a_review_are_one(self, store: Store):
        """Given two buried jobs of one review and one of another, then two reviews are counted; revived, each
        place comes back once."""
        one = await created(store)
        [job] = await begin_all(store)
        await store.move_to_dead_letters(job, "channel_not_found")
        await store.redraw(one.id, Place("slack:#ops"))
        [check] = await begin_all(store)
        await store.move_to_dead_letters(check, "not_in_channel")
        other = await created(store, thread_id="other")
        [third] = await begin_all(store)
        await store.move_to_dead_letters(third, "it can't be read")
        assert await store.count_dead_letters() == 2

        assert await store.requeue_dead_letters() == 2
        assert await store.count_dead_letters() == 0

        back = {(job.review_id, job.place) for job in await finish_all(store)}
        assert back == {
            (one.id, DEFAULT_PLACE),
            (one.id, "slack:#ops"),
            (other.id, DEFAULT_PLACE),
        }

    async def test_a_dead_letter_is_found_retried_and_dropped(self, store: Store):
        """Each says why; one of them is tried again, the other is dropped, each once."""
        buried: list[tuple[str, str]] = []
        for why in ("first", "second"):
            review = await created(store, thread_id=why)
            [job] = await begin_all(store)
            await store.move_to_dead_letters(job, why)
            buried.append((review.id, why))

        one, two = await store.dead_letters()
        assert [one] == await store.dead_letters(1)
        assert [(each.review_id, each.why) for each in (one, two)] == buried
        assert abs(one.at - await store.now()) < 60
        assert await store.dead_letter(two.id) == two
        for id in ("", "nonsense", "0:1-1", "99:1-1", f"0:{1 << 70}-0"):
            assert await store.dead_letter(id) is None

        assert [await store.requeue_dead_letter(one) for _ in range(2)] == [True, False]
        assert [await store.drop_dead_letter(two) for _ in range(2)] == [True, False]
        assert not await store.requeue_dead_letter(two)
        assert (await store.dead_letters(), await store.count_dead_letters()) == ([], 0)
        [back] = await begin_all(store)
        assert (back.review_id, back.attempts) == (buried[0][0], 2)
        await store.finish_job(back)
        assert await begin_all(store) == []
