"""In a review that hides values, people still read what became of each call. Only the agent's words are
missing.
"""

from __future__ import annotations

import pytest

from bot.api import named_claims
from hitl_core.errors import Refused
from hitl_core.model import Review
from hitl_core.review import PAUSED, CallResult, claims, decisions
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, call, person, policy, review_of

HIDES = {"redact": ["/n"]}


def started(**rule: object) -> Review:
    review, _ = review_of([call("pay", n=1)], by=policy(pay={"confirm": False, **rule}))
    review = decisions.decide(review, "1", Proposal("approve", 1), person(), START).review
    review = claims.claim(review, "p1", START, 60).review
    return claims.start(review, review.fence, "1", START).review


def finished(review: Review, **results: object) -> Review:
    by_key = {key.removeprefix("c"): result for key, result in results.items()}
    return claims.finish(review, review.fence, by_key, START + 1).review


@pytest.mark.parametrize("hides", [{}, HIDES])
def test_a_call_without_a_result_is_not_told_as_done(hides: dict[str, object]) -> None:
    with pytest.raises(Refused, match="was started and has no result"):
        finished(started(**hides))


@pytest.mark.parametrize("text", ["Error: HTTP 500", "failed: no money", "paid 5", "done"])
def test_what_an_agent_reports_is_told_as_a_report(text: str) -> None:
    """Only the agent knows whether its text means success, so the line doesn't say it."""
    line = finished(started(**HIDES), c1=text).runs["1"].line
    assert line == "a result was reported; it is not shown, because this review has hidden values"


def test_a_failure_that_we_saw_is_told_as_one() -> None:
    line = finished(started(**HIDES), c1=CallResult.failure("no money for 1")).runs["1"].line
    assert line == "failed; the error is not shown, because this review has hidden values"
    assert (
        finished(started(), c1=CallResult.failure("no money")).runs["1"].line == "failed: no money"
    )


def test_a_sentence_of_ours_is_shown_as_it_is() -> None:
    assert finished(started(**HIDES), c1=CallResult.note("ran")).runs["1"].line == "ran"


@pytest.mark.parametrize("hides", [{}, HIDES])
def test_results_are_compared_as_they_were_not_as_they_are_shown(
    hides: dict[str, object],
) -> None:
    """Given a done review, then only a `done` with the same whole result is a repeated one."""
    review = finished(started(**hides), c1="paid 5\nto Ada")
    assert named_claims.has_same_results(review, {"c1": "paid 5\nto Ada"})
    assert not named_claims.has_same_results(review, {"c1": "paid 5000\nto Ada"})
    assert not named_claims.has_same_results(review, {"c1": "paid 5\nto Bob"})


def test_a_paused_call_stays_paused_when_its_review_is_done() -> None:
    review = started(**HIDES)
    paused = claims.report(review, review.fence, {"1": PAUSED}, START).review
    assert (paused.runs["1"].state, paused.runs["1"].line) == ("paused", None)
    assert finished(paused).runs["1"].state == "paused"
    lapsed = claims.expire_lease(paused, START + 61).review
    assert not lapsed.calls_in_doubt
    assert claims.runnable_calls(lapsed) == ()
