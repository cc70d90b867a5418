"""A job is begun, finished, repeated and checked."""

from __future__ import annotations

from hitl_core.model import DEFAULT_PLACE
from hitl_core.store import Recheck, Store
from tests.store.steps import Pass, approved, created
from tests.support.jobs import begin_all, finish_all


class JobsContract:
    async def test_what_was_begun_and_never_finished_is_begun_again(
        self, store: Store, let_pass: Pass
    ):
        """Given a job whose bot died, then the next bot has it, counted, and with its first time."""
        review = await created(store)
        [first] = await begin_all(store)
        await let_pass(0.02)
        [second] = await begin_all(store)
        [third] = await begin_all(store)
        assert [job.attempts for job in (first, second, third)] == [1, 2, 3]
        assert {job.first_at for job in (first, second, third)} == {first.first_at}

        await store.put_back_job(third)
        [last] = await begin_all(store)
        assert (last.attempts, last.review_id) == (2, review.id), "an orderly end counts once"

    async def test_who_began_last_finishes(self, store: Store):
        """Faults 1: given two bots that draw one card, in whatever order they end, then the one that began
        first doesn't end the other's, and where it comes last the message is checked at once."""
        for first_ends_last in (False, True):
            review = await created(store)
            [one] = await begin_all(store)
            [two] = await begin_all(store)
            ends = [two, one] if first_ends_last else [one, two]
            assert [await store.finish_job(job) for job in ends] == [job is two for job in ends]
            left = await finish_all(store)
            assert [(job.kind, job.review_id) for job in left] == [("check", review.id)]

    async def test_two_jobs_of_one_card_are_not_alone(self, store: Store):
        """Faults 1: given one bot that checks a card, and another one that draws it, then in whatever order
        they end it is drawn once more."""
        for reverse in (False, True):
            review = await created(store)
            await finish_all(store)
            await store.redraw(review.id, DEFAULT_PLACE)
            [check] = await begin_all(store)
            await approved(store, review)  # which a person did, so it comes first
            [card] = await begin_all(store)
            assert (check.kind, card.kind) == ("check", "card")
            ends = [card, check] if reverse else [check, card]

            assert [await store.finish_job(job) for job in ends] == [job is card for job in ends]

            assert [job.kind for job in await finish_all(store)] == ["check"]

    async def test_what_changes_while_it_is_drawn_is_drawn_again(self, store: Store):
        review = await created(store)
        [job] = await begin_all(store)
        await approved(store, review)

        assert await store.finish_job(job)

        assert await store.take_job(job.lane, "post") is None, "it is shown already"
        [again] = await begin_all(store)
        assert (again.review_id, again.attempts) == (review.id, 1)
        await store.finish_job(again)
        assert await store.lanes() == []

    async def test_a_check_comes_later(self, store: Store, let_pass: Pass):
        """Faults 2: given a drawing whose answer was lost, then it is looked at once more later."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.finish_job(job, Recheck("sweep", 20.0, "12.5"))
        assert (await store.lanes(), await store.lanes(later=True)) == ([], [DEFAULT_PLACE])
        assert await store.take_job(job.lane, "draw") is None

        await let_pass(25)

        [check] = await begin_all(store)
        assert (check.kind, check.review_id, check.note) == ("sweep", review.id, "12.5")
        assert await store.finish_job(check)
        assert (await store.backlog()).waiting == 0

    async def test_a_check_at_once_replaces_no_later_check(self, store: Store, let_pass: Pass):
        """Given an update without an answer, and a press on its old card, which is drawn at once; then the
        card is still checked later, because the update may be applied after that."""
        review = await created(store)
        await finish_all(store)
        await approved(store, review)
        [job] = await begin_all(store)
        await store.redraw(review.id, DEFAULT_PLACE)
        await store.finish_job(job, Recheck("check", 20.0))

        at_once = await finish_all(store)
        assert [each.kind for each in at_once] == ["check"]
        await let_pass(25)
        assert [each.kind for each in await finish_all(store)] == ["check"]
        assert (await store.backlog()).waiting == 0

    async def test_a_job_of_two_bots_is_checked_at_once_and_later(
        self, store: Store, let_pass: Pass
    ):
        """Given two bots that drew one card, and the last one had an update without an answer."""
        await created(store)
        [one] = await begin_all(store)
        [two] = await begin_all(store)
        await store.finish_job(one)
        await store.finish_job(two, Recheck("check", 20.0))

        assert [each.kind for each in await finish_all(store)] == ["check"]
        await let_pass(25)
        assert [each.kind for each in await finish_all(store)] == ["check"]

    async def test_of_two_later_checks_the_last_time_and_the_first_note_count(
        self, store: Store, let_pass: Pass
    ):
        """Given two posts without an answer, then the later one decides when it is looked for copies, and
        the earlier one since when."""
        review = await created(store)
        [job] = await begin_all(store)
        await store.finish_job(job, Recheck("sweep", 10.0, "9.5"))
        for delay, since in ((40.0, "12.5"), (0.0, "10.5")):
            await store.redraw(review.id, DEFAULT_PLACE)
            [job] = await begin_all(store)
            await store.finish_job(job, Recheck("sweep", delay, since))

        await let_pass(15)
        assert await begin_all(store) == []
        await let_pass(30)
        [sweep] = await begin_all(store)
        assert (sweep.kind, sweep.note) == ("sweep", "9.5")

    async def test_a_later_check_that_is_added_while_one_runs_stays(
        self, store: Store, let_pass: Pass
    ):
        review = await created(store)
        [job] = await begin_all(store)
        await store.finish_job(job, Recheck("sweep", 0.0, "9.5"))
        [running] = await begin_all(store)
        await store.redraw(review.id, DEFAULT_PLACE)
        check = await store.take_job(running.lane, "draw", [running.member])
        assert check
        await store.finish_job(check, Recheck("sweep", 30.0, "9.5"))

        await store.finish_job(running)

        # One check at once, because two jobs of the card ran; the later one waits.
        assert [each.kind for each in await finish_all(store)] == ["check"]
        await let_pass(35)
        assert [each.kind for each in await finish_all(store)] == ["sweep"]

    async def test_a_redraw_is_asked_for_once(self, store: Store):
        review = await created(store)
        await finish_all(store)
        await store.redraw(f"0-{'f' * 32}", DEFAULT_PLACE)
        await store.redraw("nonsense", DEFAULT_PLACE)
        for _ in range(3):
            await store.redraw(review.id, DEFAULT_PLACE)
            await store.redraw(review.id, DEFAULT_PLACE, "stray", "slack C1 1.1")
        draws = await finish_all(store)
        notes = {job.kind: job.note for job in draws}
        assert notes == {"check": "3", "stray": "slack C1 1.1"}
        assert len(draws) == 2

    async def test_a_later_redraw_is_done_besides_one_at_once(self, store: Store, let_pass: Pass):
        review = await created(store)
        await finish_all(store)
        await store.redraw(review.id, DEFAULT_PLACE, delay=10)
        await store.redraw(review.id, DEFAULT_PLACE, delay=30)  # the last time counts
        await store.redraw(f"0-{'f' * 32}", DEFAULT_PLACE, delay=10)
        assert await finish_all(store) == []
        await store.redraw(review.id, DEFAULT_PLACE)
        assert [each.kind for each in await finish_all(store)] == ["check"]
        await let_pass(35)
        assert [each.kind for each in await finish_all(store)] == ["check"]
        assert await finish_all(store) == []

    async def test_of_two_later_updates_the_earlier_one_counts(self, store: Store, let_pass: Pass):
        """When it is done, what still waits is put off again: so neither delays the other."""
        review = await created(store)
        await finish_all(store)
        await store.redraw(review.id, DEFAULT_PLACE, "card", delay=10)
        await store.redraw(review.id, DEFAULT_PLACE, "card", delay=60.0)
        await let_pass(15)
        [job] = await begin_all(store)
        assert job.kind == "card"
        await store.redraw(review.id, DEFAULT_PLACE, "card", delay=60.0)
        assert await store.finish_job(job)
        assert await finish_all(store) == []
        await store.redraw(review.id, DEFAULT_PLACE, "card", delay=10)
        await let_pass(15)
        assert [each.kind for each in await finish_all(store)] == ["card"]

    async def test_finished_twice_is_nothing_but_a_check(self, store: Store):
        await created(store)
        [job] = await begin_all(store)
        assert await store.finish_job(job)
        assert not await store.finish_job(job)
        assert [each.kind for each in await finish_all(store)] == ["check"]
