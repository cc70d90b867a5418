"""The service that alone writes reviews: what it checks again, and whom it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import LeaseLost, Refused, ReviewConflict, ReviewNotFound
from hitl_core.model import encode
from hitl_core.review import Decide, claims, seconds_since_boot
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore, Write
from tests.review.open_reviews import Open, submit
from tests.support.builders import approve_all, call, person, proposal, review_of
from tests.support.clock import Clock
from tests.support.jobs import finish_all


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"n": 11}, "/n: must be at most 10"),
        ({"n": "1"}, "/n: must be a whole number"),
        ({"m": 1}, "must have the entry n|n"),
    ],
    ids=["maximum", "type", "required"],
)
async def test_an_edit_is_checked_against_its_schema_where_it_is_stored(
    args: dict[str, Any], text: str
):
    """A form that was got around decides nothing."""
    reviews = Reviews(MemoryStore())
    review = await submit(reviews, "strict")

    with pytest.raises(Refused, match=text) as caught:
        await reviews.apply(Decide(review.id, "1", proposal("edit", **args), person(), "op"))

    assert caught.value.code == "invalid_args"
    assert (await reviews.load(review.id)).review == review
    applied = await reviews.apply(Decide(review.id, "1", proposal("edit", n=9), person(), "op"))
    assert applied.review.arguments("1") == encode({"n": 9})


async def test_a_late_edit_is_told_who_decided_and_not_what_is_wrong_with_it():
    """Bad input, a modal submitted after the review was decided: the decision is the news."""
    reviews = Reviews(MemoryStore())
    review = await submit(reviews, "strict")
    await reviews.apply(Decide(review.id, "1", proposal(), person("Ada"), "first"))
    with pytest.raises(Refused, match=r"“Ada” \(U_ADA\) already approved"):
        await reviews.apply(Decide(review.id, "1", proposal("edit", n=99), person("Bo"), "second"))


async def test_the_same_turn_is_found_again_and_another_is_a_conflict(open_reviews: Open):
    """Submitting again after a crash posts nothing twice; other arguments are an error."""
    reviews = await open_reviews()
    review, event = review_of([call(n=1)], turn="m1", now=await reviews.store.now())
    assert await reviews.submit(review, event) == review
    await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
    again = await reviews.submit(*review_of([call(n=1)], turn="m1"))
    assert again.status == "settled"

    for other in (call(n=2), call("strict", n=1)):
        with pytest.raises(ReviewConflict, match="already submitted with other arguments"):
            await reviews.submit(*review_of([other], turn="m1"))
    [job] = await finish_all(reviews.store)
    assert job.note == "2"  # submitted once, decided once


async def test_the_same_turn_for_another_requester_is_a_conflict():
    """Given a turn that was submitted for Ann, then nobody else gets her review as theirs: Bob could approve
    what his own agent asked. Who names nobody continues hers."""
    reviews = Reviews(MemoryStore())
    review, event = review_of([call(n=1)], turn="m1", requester="U0ANN")
    await reviews.submit(review, event)
    with pytest.raises(ReviewConflict, match="already submitted for another requester"):
        await reviews.submit(*review_of([call(n=1)], turn="m1", requester="U0BOB"))
    for same in ("U0ANN", "slack:U0ANN", None):
        again = await reviews.submit(*review_of([call(n=1)], turn="m1", requester=same))
        assert again.requester == "U0ANN"


async def test_an_unknown_review_is_not_found():
    reviews = Reviews(MemoryStore())
    for ask in (
        lambda: reviews.load("0-" + "a" * 32),
        lambda: reviews.apply_due("nonsense"),
        lambda: reviews.apply(Decide("", "1", proposal(), person(), "op")),
    ):
        with pytest.raises(ReviewNotFound):
            await ask()


class Contested(MemoryStore):
    """Somebody else is always faster."""

    async def commit(self, write: Write) -> bool:
        stored = self._reviews.get(write.review.id)
        if stored is not None:
            newer = stored.model_copy(update={"version": stored.version + 1})
            await super().commit(write._replace(review=newer))
        return await super().commit(write)


@pytest.mark.slow
async def test_what_is_never_free_is_refused_visibly():
    """Given others who change the review at every try, then the person may press again."""
    reviews = Reviews(Contested())
    review = await submit(reviews)
    with pytest.raises(Refused, match="Press again") as caught:
        await reviews.apply(Decide(review.id, "1", proposal(), person(), "op"))
    assert caught.value.code == "busy"


async def test_no_call_runs_after_its_lease_ended_though_the_clock_was_set_back() -> None:
    """Given a claim, after which the store's clock was set back by an hour; when the reply to the start of
    its call comes after the lease has ended, then the call does not run."""
    clock = Clock()
    store = MemoryStore(clock)
    reviews = Reviews(store)
    review_id = (await reviews.submit(*review_of(now=clock.now))).id
    await approve_all(reviews, review_id)
    await reviews.change(review_id, "claim", lambda r, now: claims.claim(r, "p", now, 30))
    clock.now -= 3600
    started = await reviews.change(review_id, "start", lambda r, now: claims.start(r, 1, "1", now))
    await reviews.apply_due(review_id)
    clock.now += 31
    await reviews.apply_due(review_id)

    long_ago = seconds_since_boot() - 31
    with pytest.raises(LeaseLost):
        await reviews.can_still_run(started, "1", 1, long_ago)
