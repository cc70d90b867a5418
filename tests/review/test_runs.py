"""What an agent does with a settled review: it claims, starts, reports and finishes."""

from __future__ import annotations

import tracemalloc

import pytest

from hitl_core.errors import LeaseLost
from hitl_core.review import claims, one_line
from hitl_core.review.escalation import due_at
from tests.review.refusals import raises_refused
from tests.review.test_transitions import ADA, BO, NOW, claim, decide_by_ada, one
from tests.support.builders import START, call, review_of


def test_only_what_is_settled_can_be_claimed():
    """Once, for the time of the lease, and then again by somebody else with a higher fence."""
    with raises_refused("not_ready", "it is pending"):
        claim(one())
    review = claim(decide_by_ada(one()))
    assert (review.status, review.fence) == ("claimed", 1)
    with raises_refused("not_ready", "it is claimed"):
        claims.claim(review, "p2", NOW + 29.9, 30)
    again = claims.claim(review, "p2", NOW + 30, 30).review
    assert again.lease is not None
    assert (again.lease.holder, again.fence, again.lease.until) == ("p2", 2, NOW + 60)


def test_promise_5_an_older_fence_writes_nothing():
    """A zombie's report, renewal, start and end are refused (A6); and so is a lease that has ended."""
    old = claim(decide_by_ada(one()))
    new = claims.claim(old, "p2", NOW + 30, 30).review
    for review, fence, now in ((new, 1, NOW + 31), (old, 1, NOW + 30), (old, 2, NOW + 1)):
        with pytest.raises(LeaseLost):
            claims.start(review, fence, "1", now)
        with pytest.raises(LeaseLost):
            claims.report(review, fence, {"1": "x"}, now)
        with pytest.raises(LeaseLost):
            claims.renew(review, fence, now, 30)
        with pytest.raises(LeaseLost):
            claims.finish(review, fence, {}, now)


def test_promise_5_a_started_call_starts_never_again_unless_a_person_says_so():
    """started → (lease ends) in doubt → asked → It ran / Run again / Skip."""
    review = claims.start(claim(decide_by_ada(one())), 1, "1", NOW).review
    with raises_refused("already_started"):
        claims.start(review, 1, "1", NOW)
    lapsed = claims.expire_lease(review, NOW + 30).review
    assert [c.key for c in lapsed.calls_in_doubt] == ["1"]
    assert claims.ready_at(lapsed) is None
    with raises_refused("not_ready"):
        claim(lapsed, NOW + 40)

    for answer, runs in (("ran", 0), ("rerun", 1), ("skip", 0)):
        resolved, event = claims.resolve(lapsed, "1", answer, BO, NOW + 50)  # type: ignore[arg-type]
        assert (event.kind, event.what, event.by) == ("resolved", answer, BO)
        assert (claims.ready_at(resolved) or NOW) < START
        again = claim(resolved, NOW + 51)
        assert len(claims.runnable_calls(again)) == runs
        with raises_refused("already_decided", "“Bo” (U_BO) already answered this"):
            claims.resolve(resolved, "1", "rerun", ADA, NOW + 60)
        if answer == "rerun":
            assert claims.start(again, 2, "1", NOW + 52).review.runs["1"].attempt == 2
        else:
            with raises_refused("already_started"):
                claims.start(again, 2, "1", NOW + 52)


def test_a_claim_after_a_death_asks_instead_of_claiming():
    """Given a call that was started by the dead, then the claim lapses the review and takes nothing."""
    review = claims.start(claim(decide_by_ada(one())), 1, "1", NOW).review
    after, event = claims.claim(review, "p2", NOW + 30, 30)
    assert (event.kind, after.status, after.lease) == ("lapsed", "settled", None)
    assert after.calls_in_doubt


def test_an_idempotent_call_runs_again_by_itself():
    review = claims.start(claim(decide_by_ada(one("rerunnable"))), 1, "1", NOW).review
    after, event = claims.claim(review, "p2", NOW + 30, 30)
    assert (event.kind, after.status, after.calls_in_doubt) == ("claimed", "claimed", ())
    assert [c.key for c in claims.runnable_calls(after)] == ["1"]


def test_what_was_reported_is_not_in_doubt():
    review = claims.start(claim(decide_by_ada(one())), 1, "1", NOW).review
    review = claims.report(review, 1, {"1": "sent"}, NOW).review
    after = claims.claim(review, "p2", NOW + 30, 30).review
    assert after.status == "claimed"
    assert claims.runnable_calls(after) == ()


def test_promise_6_an_answer_to_an_earlier_doubt_settles_no_later_one():
    """Given a call that stopped, was run again and stopped again, then the first card's buttons are stale."""
    review = claim(decide_by_ada(one()), NOW)
    review = claims.start(review, review.fence, "1", NOW + 1).review
    review = claims.expire_lease(review, NOW + 30).review
    review = claims.resolve(review, "1", "rerun", BO, NOW + 40, attempt=1).review
    review = claim(review, NOW + 41)
    review = claims.start(review, review.fence, "1", NOW + 42).review
    review = claims.expire_lease(review, NOW + 80).review
    with raises_refused("stale", "run again in the meantime"):
        claims.resolve(review, "1", "rerun", ADA, NOW + 90, attempt=1)
    assert claims.resolve(review, "1", "ran", ADA, NOW + 90, attempt=2).review.calls_in_doubt == ()


def test_what_began_and_has_no_result_is_not_done():
    """Nobody would learn whether it ran; when the lease ends, people are asked."""
    review = claim(decide_by_ada(one()), NOW)
    review = claims.start(review, review.fence, "1", NOW + 1).review
    with raises_refused("no_result"):
        claims.finish(review, review.fence, {}, NOW + 2)


def test_what_people_ordered_and_the_agent_did_not_do_is_not_told_as_if_it_ran():
    review = claim(decide_by_ada(one()), NOW)
    review = claims.start(review, review.fence, "1", NOW + 1).review
    review = claims.expire_lease(review, NOW + 40).review
    review = claims.resolve(review, "1", "rerun", ADA, NOW + 41).review
    review = claim(review, NOW + 42)
    run = claims.finish(review, review.fence, {}, NOW + 43).review.runs["1"]
    assert (run.state, run.by) == ("skipped", None)


def test_a_lease_that_lives_does_not_lapse():
    review = claim(decide_by_ada(one()))
    assert due_at(review) == claims.ready_at(review) == NOW + 30
    with raises_refused("not_due"):
        claims.expire_lease(review, NOW + 29.99)
    longer = claims.renew(review, 1, NOW + 29, 30).review
    with raises_refused("not_due"):
        claims.expire_lease(longer, NOW + 30)
    assert due_at(longer) == NOW + 59


def test_allowed_calls_run_and_denied_ones_never():
    review, _ = review_of([call("look_up", "c1"), call("drop_table", "c2"), call("ask", "c3")])
    assert [c.key for c in claims.runnable_calls(decide_by_ada(review, "reject", "3"))] == ["1"]
    assert [c.key for c in claims.runnable_calls(decide_by_ada(review, "approve", "3"))] == [
        "1",
        "3",
    ]
    free, _ = review_of([call("look_up", "c1"), call("drop_table", "c2")])
    assert (free.status, free.settled_at) == ("settled", START)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sent", "sent"),
        ("\n\n  first  \nsecond", "first"),
        ("", ""),
        (None, "None"),
        ({"a": 1}, "{'a': 1}"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("name\udcff.txt", "name?.txt"),
    ],
)
def test_a_result_is_one_line_that_can_be_stored(text: object, line: str):
    assert one_line(text) == line


def test_of_a_result_only_the_start_is_split():
    """HTTP e: two million lines took 150 ms. Given as many, then no list of them is made."""
    text = "sent\n" + "\n" * 2_000_000
    tracemalloc.start()
    try:
        assert one_line(text) == "sent"
        assert one_line(text[4:]) == ""
        assert one_line(text[4:] + "late") == "late"
        assert tracemalloc.get_traced_memory()[1] < 3 * len(text)
    finally:
        tracemalloc.stop()
