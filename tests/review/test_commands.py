"""What people do, as values: each is applied to a review without a store or a chat system."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import MessageRef, Place, Review, Snapshot
from hitl_core.review import (
    AnswerDoubt,
    Cancel,
    Command,
    Decide,
    DecideAll,
    Escalate,
    Findings,
    Proposal,
    apply_command,
    claims,
    decisions,
)
from hitl_core.review.edits import proposal as proposals
from tests.support.builders import START, call, person, proposal, review_of

NOW = START + 5
ADA, BO = person("Ada"), person("Bo")
CARD = MessageRef(channel="slack", conversation="C1", ts="1.0")


def review_of_tools(*tools: str) -> Review:
    return review_of([call(tool, f"c{n}", n=1) for n, tool in enumerate(tools, start=1)])[0]


def doubtful() -> Review:
    review = claims.claim(review_of_tools("look_up"), "p1", START + 1, 10).review
    review = claims.start(review, review.fence, "1", START + 2).review
    return claims.expire_lease(review, START + 20).review


def apply(review: Review, command: Command, findings: Findings | None = None) -> Any:
    snapshot = Snapshot(review=review, posts={}, shown={}, now=NOW)
    return apply_command(snapshot, command, findings)


def test_a_decision_is_the_one_of_its_proposal():
    review = review_of_tools("ask")
    after, event = apply(review, Decide(review.id, "1", proposal("reject"), ADA, "op"))
    assert after.status == "settled"
    assert (event.kind, event.what, event.by) == ("decided", "reject", ADA)


def test_a_decision_counts_without_voters_who_may_no_longer_decide():
    review = review_of_tools("pair")
    review = apply(review, Decide(review.id, "1", proposal(), ADA, "op1")).review
    found = Findings({"1": [ADA.key]})
    after = apply(review, Decide(review.id, "1", proposal(), BO, "op2"), found).review
    assert [vote.by for vote in after.actions[0].votes] == [BO]
    assert after.status == "pending"


@pytest.mark.parametrize("same_review", [True, False])
def test_an_edit_that_was_judged_is_not_judged_again(
    monkeypatch: pytest.MonkeyPatch, same_review: bool
) -> None:
    """Given an edit that its sender had judged, when it is applied to that same review, then it is judged
    once; when the review has changed meanwhile, it is judged again."""
    calls = list[str]()
    real = proposals.judge_edit

    def counting(*args: Any) -> Any:
        calls.append("judged")
        return real(*args)

    monkeypatch.setattr(proposals, "judge_edit", counting)
    review, edit = review_of_tools("ask"), proposal("edit", n=2)
    judged = decisions.judge_new_edit(review, "1", edit, NOW)
    later = review if same_review else review.model_copy(update={"version": review.version + 1})

    after = apply(later, Decide(review.id, "1", edit, ADA, "op"), Findings(judged=judged)).review

    assert after.arguments("1").parse() == {"n": 2}
    assert len(calls) == (1 if same_review else 2)


def test_several_decisions_are_stored_together_or_not_at_all():
    review = review_of_tools("ask", "strict")
    command = DecideAll(review.id, {"1": proposal(), "2": proposal("reject")}, ADA, "op")
    with pytest.raises(DecisionError) as refused:
        apply(review, command)
    assert (refused.value.code, refused.value.index) == ("message_required", 1)

    both = {key: Proposal("approve", 1) for key in ("1", "2")}
    seal = review.seal("1", "2", is_whole=True)
    assert apply(review, DecideAll(review.id, both, ADA, "op", seal)).review.status == "settled"
    with pytest.raises(Refused) as refused:
        apply(review, DecideAll(review.id, both, ADA, "op", "another"))
    assert refused.value.code == "stale"


def test_an_escalation_takes_the_step_that_its_card_showed_next():
    review = review_of_tools("timed")
    found = Findings(place=Place("slack:#first"))
    after, event = apply(review, Escalate(review.id, CARD, 0, ADA, "op", "Not mine"), found)
    assert after.actions[0].places[-1] == Place("slack:#second")
    assert (event.kind, event.why) == ("escalated", "Not mine")
    with pytest.raises(Refused) as refused:
        apply(after, Escalate(review.id, CARD, 0, BO, "op2"), found)
    assert refused.value.code == "nothing_to_escalate"


def test_an_answer_about_a_doubt_is_for_the_attempt_on_its_card():
    review = doubtful()
    with pytest.raises(Refused) as refused:
        apply(review, AnswerDoubt(review.id, "1", "ran", ADA, "op", attempt=2))
    assert refused.value.code == "stale"
    after = apply(review, AnswerDoubt(review.id, "1", "ran", ADA, "op", attempt=1)).review
    assert after.runs["1"].state == "done"


@pytest.mark.parametrize("who", [ADA, None])
def test_people_and_the_agent_cancel(who: Any):
    review = review_of_tools("ask")
    after = apply(review, Cancel(review.id, who, "op", "Not needed")).review
    assert after.cancelled is not None
    assert (after.cancelled.by, after.cancelled.reason) == (who, "Not needed")


def test_a_command_names_the_actions_that_it_is_about():
    review = review_of_tools("ask", "ask")
    both = {key: proposal() for key in ("1", "2")}
    keys = {
        Decide(review.id, "1", proposal(), ADA, "op").keys,
        DecideAll(review.id, both, ADA, "op").keys,
        Escalate(review.id, CARD, 0, ADA, "op").keys,
        AnswerDoubt(review.id, "2", "ran", ADA, "op").keys,
        Cancel(review.id, None, "op").keys,
    }
    assert keys == {("1",), ("1", "2"), (), ("2",)}
