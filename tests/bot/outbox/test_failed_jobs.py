"""Jobs that fail: each is tried again or reported."""

from __future__ import annotations

from typing import get_args

import pytest

from bot.outbox.lane.failing_jobs import give_up
from hitl_core.model import DEFAULT_PLACE
from hitl_core.store import Job, MemoryStore
from hitl_core.store.contract.jobs import JobKind, format_member
from tests.store.steps import waiting_cards
from tests.support.jobs import begin_all, finish_all


@pytest.mark.parametrize("kind", get_args(JobKind))
async def test_a_job_that_fails_is_a_dead_letter_or_its_reviews_get_cards(
    kind: JobKind,
) -> None:
    """Of a check, the letter is its card's job, which does all that a check does and has fallbacks."""
    store, place = MemoryStore(), DEFAULT_PLACE
    [first] = await waiting_cards(store, 1)
    if kind == "digest":
        id = await store.add_to_digest(place, place, "g", "billing", [first])
        assert id
        [job] = await begin_all(store)
        await give_up(store, job, "why")
        await store.finish_job(job)
        assert [(one.kind, one.review_id) for one in await finish_all(store)] == [("card", first)]
        return
    if kind in ("check", "stray"):
        await finish_all(store)
        await store.redraw(first, place, kind)
    [job] = await begin_all(store)
    await give_up(store, Job(**{**job._asdict(), "kind": kind}), "why")
    [letter] = await store.dead_letters()
    assert letter.member == format_member("card", first, place)
    assert await store.requeue_dead_letters() == 1
    [again] = await begin_all(store)
    assert (again.kind, again.attempts) == ("card", 2)
