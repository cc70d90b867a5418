"""Whole answers of another system as votes, and what the audit says of a decision."""

from __future__ import annotations

import pytest

from hitl_core.errors import DecisionError
from hitl_core.model import Place
from hitl_core.review.decisions import decide, decide_all
from tests.review.refusals import raises_refused
from tests.review.votes.test_voting import ADA, BO, NOW, of, two
from tests.support.builders import call, policy, proposal, review_of


def test_a_whole_answer_is_votes_where_it_takes_several():
    """By one person over the HTTP API: one action is decided, of the other it is a vote."""
    plans = {"1": proposal(), "2": proposal("reject", message="no")}
    review, event = decide_all(two(), plans, ADA, NOW, place=Place("slack:#first"))
    assert (event.kind, event.action, event.what) == ("decided", "1,2", "approve,reject")
    assert (event.why, event.place) == ("no", "slack:#first")
    assert [a.is_pending for a in review.actions] == [True, False]
    review, event = decide_all(review, {"1": proposal()}, BO, NOW)
    assert (event.kind, review.status) == ("decided", "settled")


def test_a_whole_answer_of_votes_only_says_so():
    review = review_of([call("pair", "c1", n=1), call("jury", "c2", n=1)])[0]
    voted = decide_all(review, {"1": proposal(), "2": proposal()}, ADA, NOW)
    assert (voted.event.kind, voted.event.what) == ("voted", "approve,approve")
    plans = {"1": proposal("edit", n=2), "2": proposal()}
    changed = decide_all(review, plans, ADA, NOW)
    assert (changed.event.kind, changed.event.what) == ("edited", "edit,approve")
    assert changed.event.before != changed.event.args_hash


def test_a_whole_answer_keeps_a_vote_that_was_given_already():
    """As Approve all of a person who approved one of the actions before."""
    review = decide_all(two(), {"1": proposal()}, ADA, NOW).review
    after, event = decide_all(review, {"1": proposal(), "2": proposal()}, ADA, NOW)
    assert (event.kind, event.action, event.what) == ("decided", "2", "approve")
    assert after.action("1") == review.action("1")
    with raises_refused("stale"):
        decide_all(review, {"1": proposal(), "2": proposal()}, ADA, NOW, seal="0" * 16)


def test_a_whole_answer_of_votes_that_were_given_already_is_refused():
    review = decide_all(two(), {"1": proposal()}, ADA, NOW).review
    with pytest.raises(DecisionError) as caught:
        decide_all(review, {"1": proposal()}, ADA, NOW)
    error = caught.value
    assert (error.code, error.index, error.tool) == ("already_voted", 0, "pair")


def test_a_whole_answer_with_one_wrong_decision_changes_nothing():
    review = decide_all(two(), {"2": proposal()}, ADA, NOW).review
    with pytest.raises(DecisionError) as caught:
        decide_all(review, {"1": proposal(), "2": proposal()}, ADA, NOW)
    assert (caught.value.code, caught.value.index) == ("already_decided", 1)
    assert of(review).votes == ()


def test_a_whole_answer_drops_the_votes_of_those_who_left():
    review = decide_all(two(), {"1": proposal()}, ADA, NOW).review
    left = decide_all(review, {"1": proposal()}, BO, NOW, ineligible_voters={"1": [ADA.key]}).review
    assert [v.by for v in of(left).votes] == [BO]


def test_an_event_names_the_rule_the_policy_and_the_place():
    review, _ = review_of([call("pair", "c1", n=1), call("unheard_of", "c2", n=1)])
    review = review.model_copy(update={"policy": "sha"})
    event = decide(review, "1", proposal(), ADA, NOW, place=Place("slack:#first")).event
    assert (event.rule, event.policy, event.place) == ("pair", "sha", "slack:#first")
    event = decide_all(review, {"1": proposal(), "2": proposal()}, ADA, NOW).event
    assert event.rule == "pair,"
    assert event.args_hash == ",".join(action.args_hash for action in review.actions)
    assert decide(review, "2", proposal(), ADA, NOW).event.rule is None


@pytest.mark.parametrize("requester", [None, "UBO"])
def test_an_edit_that_too_few_could_approve_is_refused(requester: str | None) -> None:
    """Given two people who must both approve, when one of them edits, then that is refused, as
    nobody could ever approve it."""
    people = {"users": ["UADA", "UBO"], "editor_approves": False, "exclude_requester": False}
    rule = {"reviewers": {**people, "quorum": 2}}
    editor = ADA.model_copy(update={"id": "UADA"})
    review = review_of([call("it", n=1)], by=policy(it=rule), requester=requester)[0]
    with raises_refused("not_allowed", "too few are left"):
        decide(review, "1", proposal("edit", n=2), editor, NOW)
