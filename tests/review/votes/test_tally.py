"""Every way to make a call run, to run it again, or to answer in its place needs the same people."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.errors import Refused
from hitl_core.model import DoubtAnswer, Review, Reviewer
from hitl_core.review import claims
from hitl_core.review.commands import cancel
from hitl_core.review.decisions import decide
from hitl_core.review.edits.proposal import Proposal
from tests.review.refusals import raises_refused
from tests.support.builders import START, call, person, policy, proposal, review_of

NOW = START + 5
ADA, BO, CY, DI = (person(name) for name in ("Ada", "Bo", "Cy", "Di"))
REQUESTER = Reviewer(channel="slack", team="T1", id="UREQ", name="Rae")
ALL = ["approve", "edit", "reject", "respond", "ignore"]


def one(requester: str | None = "slack:UREQ", *, schema: Any = None, **reviewers: Any) -> Review:
    """A review of one call of a tool that takes these reviewers; two approve by default."""
    text = {"channel_members": True, "quorum": 2, **reviewers}
    rule: dict[str, Any] = {"allowed_decisions": ALL, "reviewers": text}
    if schema is not None:
        rule["answer_schema"] = schema
    return review_of([call("pay", n=1)], by=policy(pay=rule), requester=requester)[0]


def says(
    review: Review, by: Reviewer, type: Any, message: str | None = None, **more: Any
) -> Review:
    revision = review.actions[0].revision
    return decide(review, "1", Proposal(type, revision, message, **more), by, NOW).review


def in_doubt(review: Review, now: float = NOW) -> Review:
    """Claimed, started, and its process died."""
    review = claims.claim(review, "p1", now, 30).review
    review = claims.start(review, review.fence, "1", now).review
    return claims.expire_lease(review, now + 30).review


def call_in_doubt(**reviewers: Any) -> Review:
    review = one(**reviewers)
    for by in (ADA, BO, CY):
        if review.actions[0].is_pending:
            review = says(review, by, "approve")
    return in_doubt(review)


def resolve(review: Review, by: Reviewer, answer: Any, **more: Any) -> Review:
    return claims.resolve(review, "1", answer, by, NOW + 50, **more).review


# ---------------------------------------------------------------------- votes of a command line

DESK = Reviewer(channel="cli", team="host", id="ada", name="ada (command line)")
DESK_2 = Reviewer(channel="cli", team="host", id="bo", name="bo (command line)")
FROM_THERE = "the last vote must come from the chat"


def test_a_command_line_gives_no_last_vote_after_people_whom_it_can_not_look_up():
    """Given Ada's approval in the chat; then the command line's is refused, and Bo's counts."""
    review = says(one(), ADA, "approve")
    with raises_refused("not_permitted", FROM_THERE):
        says(review, DESK, "approve")
    with raises_refused("not_permitted", FROM_THERE):
        says(says(one(), ADA, "respond", "Yes"), DESK, "respond", "Yes")
    assert says(review, BO, "approve").actions[0].decision is not None


def test_a_command_lines_vote_counts_where_the_chat_has_the_last_one():
    review = says(one(), DESK, "approve")
    assert says(review, ADA, "approve").actions[0].decision is not None
    assert says(review, DESK_2, "approve").actions[0].decision is not None
    alone = says(says(one(quorum=3), ADA, "approve"), DESK, "approve")
    assert alone.actions[0].decision is None
    assert says(one(quorum=1), DESK, "approve").actions[0].decision is not None


def test_the_same_of_a_doubt_and_of_a_cancellation():
    review = resolve(call_in_doubt(), ADA, "ran")
    with raises_refused("not_permitted", FROM_THERE):
        resolve(review, DESK, "ran")
    review = cancel(one(reject_quorum=2), ADA, None, NOW).review
    with raises_refused("not_permitted", FROM_THERE):
        cancel(review, DESK, None, NOW)


# ------------------------------------------------------------------------ a call in doubt


@pytest.mark.parametrize(("answer", "runs"), [("rerun", 1), ("ran", 0)])
def test_what_took_two_approvals_takes_two_to_run_again_or_to_have_run(answer: Any, runs: int):
    """Security M2: one person's word leaves it in doubt; the second settles it."""
    review = call_in_doubt()
    first, event = claims.resolve(review, "1", answer, ADA, NOW + 50)
    assert (event.kind, event.what, event.by) == ("voted", answer, ADA)
    assert (len(first.calls_in_doubt), claims.ready_at(first)) == (1, None)
    with raises_refused("already_voted", "Another person is needed"):
        resolve(first, ADA, answer)
    second, event = claims.resolve(first, "1", answer, CY, NOW + 51)
    assert (event.kind, event.what, event.by) == ("resolved", answer, CY)
    again = claims.claim(second, "p2", NOW + 60, 30).review
    assert len(claims.runnable_calls(again)) == runs


@pytest.mark.parametrize("answer", ["rerun", "ran"])
def test_the_requester_makes_nothing_run_again(answer: Any):
    """Security M2: who can't approve it can't order it again, nor say in its place that it ran."""
    review = call_in_doubt()
    with raises_refused("requester", "another person must decide this"):
        resolve(review, REQUESTER, answer)
    assert resolve(review, REQUESTER, "skip").calls_in_doubt == (), "a no is everybody's"


def test_the_editor_makes_it_run_again_no_more_than_run():
    """Security M2: who made the edit can't approve it, nor the same call once more."""
    review = one(quorum=1, editor_approves=False)
    review = decide(review, "1", proposal("edit", n=2), ADA, NOW).review
    review = in_doubt(says(review, BO, "approve"))
    with raises_refused("own_edit"):
        resolve(review, ADA, "rerun")
    assert resolve(review, BO, "rerun").calls_in_doubt == ()


def test_a_skip_takes_as_many_as_a_rejection():
    review = call_in_doubt(reject_quorum=2)
    review = resolve(review, ADA, "skip")
    assert review.calls_in_doubt
    assert resolve(review, BO, "skip").runs["1"].state == "skipped"


def test_votes_for_different_answers_are_not_added_up():
    """Ada wants it again, Bo says that it ran: it stays in doubt, until two say the
    same."""
    review = resolve(resolve(call_in_doubt(), ADA, "rerun"), BO, "ran")
    assert review.calls_in_doubt
    review = resolve(review, ADA, "ran")
    assert (review.runs["1"].state, review.runs["1"].by) == ("done", ADA)


def test_votes_belong_to_one_doubt():
    """Given a call that was run again and stopped again, then its second doubt starts
    from zero."""
    review = resolve(resolve(call_in_doubt(), ADA, "rerun"), BO, "rerun")
    review = in_doubt(review, NOW + 60)
    assert (review.runs["1"].attempt, review.runs["1"].votes) == (2, ())
    assert resolve(review, CY, "rerun", attempt=2).calls_in_doubt


def test_who_may_decide_no_more_is_counted_no_more():
    review = resolve(call_in_doubt(), ADA, "rerun")
    later, event = claims.resolve(review, "1", "rerun", BO, NOW + 51, ineligible_voters=[ADA.key])
    assert (event.kind, event.why) == (
        "voted",
        "(Without “Ada” (U_ADA), who can no longer decide.)",
    )
    assert later.calls_in_doubt


def test_one_person_settles_what_nobody_was_asked_about():
    """Given a call that the policy allows, of a rule whose other calls take two; then
    one is enough."""
    free = review_of([call("look_up", n=1)], requester="slack:UREQ")[0]
    assert resolve(in_doubt(free), REQUESTER, "rerun").calls_in_doubt == ()


def test_a_doubt_has_the_audience_of_its_call():
    """The index of who is asked knows of doubts, until they are settled."""
    review = call_in_doubt()
    asked = {"place:default", "requester:slack:UREQ"}
    assert one().audiences == review.audiences == asked
    settled = resolve(resolve(review, ADA, "ran"), BO, "ran")
    assert settled.audiences == frozenset()
    free = in_doubt(review_of([call("look_up", n=1)])[0])
    assert free.audiences == {"place:default"}


# ------------------------------------------------------------------------ an answer in its place


def test_two_give_the_answer_in_the_place_of_what_two_approve():
    """Security M2: an answer counts with a second person who gives the same, and not with another."""
    review = says(one(), ADA, "respond", "Paid by hand.")
    assert review.actions[0].is_pending
    with raises_refused("already_voted", "You already answered this"):
        says(review, ADA, "respond", "Paid by hand.")
    other = says(review, BO, "respond", "Not paid.")
    assert other.actions[0].is_pending
    done = says(other, CY, "respond", "Not paid.").actions[0]
    assert done.decision is not None
    assert (done.decision.type, done.decision.message) == ("respond", "Not paid.")
    assert done.deciders == (BO, CY)


def test_the_requester_answers_nothing_in_the_place_of_the_tool():
    with raises_refused("requester", "another person must answer this"):
        says(one(), REQUESTER, "respond", "Paid by hand.")


def test_an_answer_with_a_schema_is_one_that_several_give():
    """Security M2: two who choose different answers to a question don't agree."""
    rule = {
        "allowed_decisions": ["respond"],
        "answer_schema": {"enum": ["all", "some", 1, True]},
        "reviewers": {"channel_members": True, "quorum": 2},
    }
    review = review_of([call("question", n=1)], by=policy(question=rule))[0]
    for by, given_answer in ((ADA, "all"), (BO, 1), (CY, True)):
        review = says(review, by, "respond", answer=given_answer)
    assert review.actions[0].is_pending
    made = says(review, CY, "respond", answer="all").actions[0].decision
    assert made is not None
    assert made.answer == "all"


def test_a_skip_of_an_action_takes_as_many_as_a_rejection():
    review = says(one(reject_quorum=2), ADA, "ignore")
    assert review.actions[0].is_pending
    assert says(review, BO, "reject").actions[0].is_pending, "another no, with another outcome"
    assert says(review, BO, "ignore").actions[0].decision is not None


def test_people_cancel_as_many_as_reject():
    """Security M2: a cancellation by people is a no to all of it; the agent's own takes nobody."""
    review = one(reject_quorum=2)
    voted, event = cancel(review, ADA, "wrong customer", NOW)
    assert (event.kind, event.what, voted.cancelled) == ("voted", "cancel", None)
    assert voted.status == "pending"
    with raises_refused("already_voted"):
        cancel(voted, ADA, None, NOW)
    done = cancel(voted, BO, "too late", NOW).review
    assert done.cancelled is not None
    assert (done.cancelled.by, done.cancelled.reason) == (BO, "wrong customer\ntoo late")
    assert cancel(review, None, None, NOW).review.cancelled


# ------------------------------------------------------------------------ whatever people press


@given(
    presses=st.lists(
        st.tuples(st.sampled_from([ADA, BO, REQUESTER]), st.sampled_from(get_args(DoubtAnswer))),
        max_size=12,
    ),
    quorum=st.integers(1, 3),
    reject_quorum=st.integers(1, 3),
    excluded=st.booleans(),
)
def test_no_order_of_presses_settles_a_doubt_with_fewer_people(
    presses: list[tuple[Reviewer, Any]], quorum: int, reject_quorum: int, excluded: bool
):
    """Security M2: against a ledger of who says what by now."""
    review = call_in_doubt(quorum=quorum, reject_quorum=reject_quorum, exclude_requester=excluded)
    behind: dict[str, str] = {}
    for by, answer in presses:
        try:
            review = resolve(review, by, answer)
        except Refused:
            continue
        behind[by.key] = answer
        agreed = [who for who, message in behind.items() if message == answer]
        enough = len(agreed) >= (reject_quorum if answer == "skip" else quorum)
        assert (review.calls_in_doubt == ()) == enough
        assert answer == "skip" or not (excluded and REQUESTER.key in agreed)
