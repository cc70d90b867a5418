"""A held review: its clocks stop until its release, and cancelling it takes as many people as before."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import Refused
from hitl_core.model import DEFAULT_PLACE, DoubtAnswer, Review, Reviewer, Snapshot
from hitl_core.review import AnswerDoubt, Cancel, Decide, Release, ran_mark
from hitl_core.review.escalation import apply_due, deadline, next_step_at, start_clocks
from hitl_core.review.holds import release
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.support.builders import START, call, person, policy, proposal, review_of
from tests.support.clock import Clock

ADA, BO = person("Ada"), person("Bo")
#: It was held 100 s after its submission, and released an hour after that.
HELD, RELEASED = START + 100, START + 3700


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reviews(clock: Clock) -> Reviews:
    return Reviews(MemoryStore(clock))


def one(**rule: Any) -> Review:
    return review_of([call("it")], by=policy(it=rule))[0]


async def submit(reviews: Reviews, **rule: Any) -> str:
    return (await reviews.submit(*review_of([call("it")], by=policy(it=rule)))).id


def released(review: Review) -> Review:
    snapshot = Snapshot(review=review, posts={}, shown={}, now=RELEASED, held=True, held_since=HELD)
    return release(snapshot, ADA).review


# ------------------------------------------------------------------------ clocks


async def test_people_get_the_time_for_which_a_review_was_held(
    reviews: Reviews, clock: Clock
) -> None:
    """Given a deadline of ten minutes, and a review that is held for an hour, by two holds; then after its
    release nothing is due, people can decide, and the policy decides when the ten minutes are over."""
    rule = {"expire": {"after": "10m", "decision": "reject"}}
    decided, expired = await submit(reviews, **rule), await submit(reviews, **rule)
    for clock.now in (HELD, HELD + 600):
        await reviews.store.hold_live_reviews()
    clock.now = RELEASED
    for each in (decided, expired):
        await reviews.apply(Release(each, ADA, "release"))
        assert await reviews.apply_due(each) is None

    clock.now = RELEASED + 499
    await reviews.apply(Decide(decided, "1", proposal(), ADA, "op"))
    assert await reviews.apply_due(expired) is None
    clock.now = RELEASED + 500
    after = await reviews.apply_due(expired)
    assert after is not None
    assert after.review.actions[0].decision is not None
    assert after.review.actions[0].decision.type == "reject"


def test_the_next_step_waits_as_long_as_without_the_hold() -> None:
    steps = [{"after": "3m", "to": "slack:#second"}, {"after": "1h", "to": "slack:#third"}]
    after = released(one(escalate=steps))
    assert next_step_at(after.actions[0]) == START + 3600 + 180
    with pytest.raises(Refused, match="Nothing is due"):
        apply_due(after, RELEASED)
    assert len(apply_due(after, START + 3600 + 180).review.actions[0].escalations) == 1


@pytest.mark.parametrize(
    ("delivered", "ends"), [(50, 3600 + 50 + 600), (160, 3700 + 600), (None, None)]
)
def test_a_clock_that_began_with_the_card_waits_too(
    delivered: float | None, ends: float | None
) -> None:
    """Given a clock that starts with the first card: before the hold, in it, and not yet."""
    review = one(clock="delivered", expire={"after": "10m", "decision": "reject"})
    if delivered is not None:
        review = start_clocks(review, ["1"], DEFAULT_PLACE, START + delivered).review
    end = deadline(released(review).actions[0])
    assert end == (None if ends is None else START + ends)


def test_the_deadline_that_an_edit_kept_waits_too() -> None:
    review = one(expire={"after": "1d", "decision": "reject"})
    edited = review.actions[0].model_copy(update={"since": START + 60, "until": START + 700})
    after = released(review.model_copy(update={"actions": (edited,)}))
    assert deadline(after.actions[0]) == START + 3600 + 700


def test_what_was_late_before_the_hold_is_late_after_it() -> None:
    """Silence never gets a second chance: the policy decides at the release."""
    after = released(one(expire={"after": "90s", "decision": "reject"}))
    assert apply_due(after, RELEASED).event.kind == "expired"


# ------------------------------------------------------------------------ votes to cancel


async def test_a_held_review_is_cancelled_by_as_many_people_as_it_needs(
    reviews: Reviews, clock: Clock
) -> None:
    """Given a held review of which two people must reject; then the first vote to cancel counts and it is
    still held, with nothing due; the second one cancels it, and it is held no more."""
    id = await submit(
        reviews,
        reviewers={"channel_members": True, "quorum": 2, "reject_quorum": 2},
        expire={"after": "10m", "decision": "reject"},
    )
    await reviews.store.hold_live_reviews()
    await reviews.apply(Cancel(id, ADA, "one", "stop"))
    first = await reviews.load(id)
    assert ([vote.by.name for vote in first.review.cancel_votes], first.held) == (["Ada"], True)
    clock.now = RELEASED
    assert await reviews.store.due_reviews() == []
    with pytest.raises(Refused, match="store lost data"):
        await reviews.apply(Decide(id, "1", proposal(), BO, "two"))

    await reviews.apply(Cancel(id, BO, "three"))
    second = await reviews.load(id)
    assert (second.review.cancelled is not None, second.held) == (True, False)


@pytest.mark.parametrize("by", [ADA, None])
async def test_what_an_agent_has_started_is_not_cancelled(
    reviews: Reviews, by: Reviewer | None
) -> None:
    """Given a held review of which an agent says that it has started a call; then neither a person nor its
    agent can cancel it, for its answers would say that nothing ran; after its release people are asked."""
    id = await submit(reviews)
    await reviews.store.hold_live_reviews()
    await reviews.store.record_mark(id, ran_mark("1"))
    with pytest.raises(Refused, match="its agent says that it has started it"):
        await reviews.apply(Cancel(id, by, "cancel"))
    assert (await reviews.load(id)).held

    after = (await reviews.apply(Release(id, ADA, "release"))).review
    assert [one.key for one in after.calls_in_doubt] == ["1"]
    with pytest.raises(Refused, match="may have run"):
        await reviews.apply(Cancel(id, by, "again"))


async def test_a_vote_to_cancel_is_refused_too(reviews: Reviews) -> None:
    id = await submit(reviews, reviewers={"channel_members": True, "quorum": 2, "reject_quorum": 2})
    await reviews.store.hold_live_reviews()
    await reviews.store.record_mark(id, ran_mark("1"))
    with pytest.raises(Refused, match="has started"):
        await reviews.apply(Cancel(id, ADA, "one"))


# ------------------------------------------------------------------------ pending and in doubt


@pytest.mark.parametrize("answer", [None, "ran", "skip", "rerun"])
async def test_what_may_have_run_is_not_edited(
    reviews: Reviews, answer: DoubtAnswer | None
) -> None:
    """Given a release of a pending review of which an agent says that it has started its call; then an edit
    is refused: the agent would be told that the new arguments ran, or did not. When people order to run it
    again, it can be edited."""
    id = await submit(reviews)
    await reviews.store.hold_live_reviews()
    await reviews.store.record_mark(id, ran_mark("1"))
    await reviews.apply(Release(id, ADA, "release"))
    if answer is not None:
        await reviews.apply(AnswerDoubt(id, "1", answer, BO, "answer"))
    edit = Decide(id, "1", proposal("edit", args={"n": 2}), ADA, "edit")
    if answer == "rerun":
        assert (await reviews.apply(edit)).review.status == "settled"
    else:
        with pytest.raises(Refused, match="may have run as it is"):
            await reviews.apply(edit)
        await reviews.apply(Decide(id, "1", proposal(), ADA, "approve"))
