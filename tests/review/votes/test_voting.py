"""Decisions that need several people: votes, edits, and whose votes count."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.gate.outcome.answers import answers, replacement_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Action, Decision, Place, Review, Reviewer, ToolCall, encode
from hitl_core.review import claims
from hitl_core.review.commands import cancel
from hitl_core.review.decisions import decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.escalation import apply_due, escalate
from hitl_core.review.vote_count import check_voter
from tests.review.refusals import raises_refused
from tests.support.builders import (
    START,
    approvals_needed,
    call,
    judge_turn,
    person,
    policy,
    proposal,
    review_of,
)

NOW = START + 5
ADA, BO, CY, DI = (person(name) for name in ("Ada", "Bo", "Cy", "Di"))


def one(name: str = "pair", requester: str | None = None, **reviewers: Any) -> Review:
    """A review of one call of a tool that takes these reviewers."""
    text = {"reviewers": {"channel_members": True, **reviewers}} if reviewers else {}
    rule = {"allowed_decisions": ["approve", "edit", "reject", "respond"], **text}
    rules = policy(**({name: rule} if reviewers else {}))
    return review_of([call(name, n=1)], by=rules, requester=requester)[0]


def after(review: Review, *steps: tuple[Reviewer, Any]) -> Review:
    """Each person's decision: a type, or a proposal; on the newest revision."""
    for by, step in steps:
        action = review.actions[0]
        plan = step if isinstance(step, Proposal) else proposal(step)
        review = decide(review, "1", plan._replace(revision=action.revision), by, NOW).review
    return review


def of(review: Review) -> Action:
    return review.actions[0]


def decision_of(review: Review) -> Decision:
    decision = of(review).decision
    assert decision is not None
    return decision


# ------------------------------------------------------------------------ quorum


def test_one_person_has_one_vote_from_whichever_workspace_they_press() -> None:
    """T30: given an organisation of several workspaces, where a click names the one it came from; then a
    second click of the same person is not a second person's."""
    elsewhere = ADA.model_copy(update={"team": "T2"})
    review = after(one(quorum=2), (ADA, "approve"))
    with raises_refused("already_voted"):
        decide(review, "1", proposal("approve"), elsewhere, NOW)


def test_it_waits_until_enough_have_approved():
    """When one of two approves, then a vote is kept and nothing runs; with the second it does."""
    review = one()
    assert approvals_needed(of(review)) == 2

    first, event = decide(review, "1", proposal(), ADA, NOW)

    assert (event.kind, event.what, event.by, event.action) == ("voted", "approve", ADA, "1")
    assert event.before == event.args_hash == of(review).args_hash
    assert (first.status, approvals_needed(of(first)), of(first).is_pending) == ("pending", 1, True)
    assert claims.ready_at(first) is None

    second, event = decide(first, "1", proposal(), BO, NOW + 1)

    assert (event.kind, event.what, event.by) == ("decided", "approve", BO)
    made = decision_of(second)
    assert (made.type, made.by, made.at, made.revision) == ("approve", BO, NOW + 1, 1)
    assert [vote.by for vote in of(second).votes] == [ADA, BO]
    assert (second.status, approvals_needed(of(second))) == ("settled", 0)
    assert [c.key for c in claims.runnable_calls(second)] == ["1"]


def test_one_person_is_one_vote_however_often_they_press():
    """T40: On any device, under any name."""
    review = after(one(), (ADA, "approve"))
    renamed = ADA.model_copy(update={"name": "Ada Lovelace"})
    for who in (ADA, renamed):
        with raises_refused(
            "already_voted", "You already approved this. Another person is needed."
        ):
            after(review, (who, "approve"))
    assert len(of(review).votes) == 1


def test_the_same_person_satisfies_no_second_level():
    """T31: given that the chain continued to others, then the first voter is still one voter."""
    review = after(one("jury"), (ADA, "approve"))
    review = escalate(review, Place("slack:#first"), BO, NOW).review
    with raises_refused("already_voted"):
        after(review, (ADA, "approve"))
    assert approvals_needed(of(after(review, (BO, "approve")))) == 1


def test_a_newer_vote_replaces_the_older_one():
    """From approve to reject and back; each person has one."""
    review = after(one("jury"), (ADA, "approve"), (ADA, proposal("reject", message="wait")))
    assert [(vote.type, vote.message) for vote in of(review).votes] == [("reject", "wait")]
    with raises_refused("already_voted", "You already rejected this."):
        after(review, (ADA, "reject"))
    review = after(review, (ADA, "approve"))
    assert [vote.type for vote in of(review).votes] == ["approve"]


def test_one_rejection_rejects_whatever_was_approved():
    review = after(one(), (ADA, "approve"), (BO, proposal("reject", message="no")))
    made = decision_of(review)
    assert (made.type, made.by, made.message) == ("reject", BO, "no")
    assert claims.runnable_calls(review) == ()


def test_a_reject_quorum_takes_several_and_tells_all_reasons():
    review = after(
        one("jury"),
        (ADA, proposal("reject", message="too much")),
        (BO, "approve"),
        (CY, "approve"),
    )
    assert (of(review).is_pending, approvals_needed(of(review))) == (True, 1)
    review = after(review, (DI, proposal("reject", message="too late")))
    made = decision_of(review)
    assert (made.type, made.by, made.message) == ("reject", DI, "too much\ntoo late")
    with raises_refused("already_decided", "“Ada” (U_ADA) and “Di” (U_DI) already rejected jury."):
        after(review, (BO, "reject"))


def test_one_person_skips_where_one_rejects():
    """A skip is a no: it takes what a rejection takes."""
    review = after(one(), (ADA, "approve"), (BO, "ignore"))
    assert (decision_of(review).type, decision_of(review).by) == ("ignore", BO)
    assert claims.runnable_calls(review) == ()


def test_promise_2_who_comes_late_is_told_all_who_decided():
    review = after(one(), (ADA, "approve"), (BO, "approve"))
    with raises_refused("already_decided", "“Ada” (U_ADA) and “Bo” (U_BO) already approved pair."):
        after(review, (CY, "reject"))


def test_who_may_decide_no_more_is_counted_no_more():
    """T33: given one vote, when its voter has left and another approves, then it still takes one."""
    review = after(one(), (ADA, "approve"))
    later, event = decide(review, "1", proposal(), BO, NOW, ineligible_voters=[ADA.key])
    assert (event.kind, event.why) == (
        "voted",
        "(Without “Ada” (U_ADA), who can no longer decide.)",
    )
    assert ([v.by for v in of(later).votes], approvals_needed(of(later))) == ([BO], 1)
    assert decision_of(after(later, (CY, "approve"))).by == CY


def test_a_refused_click_drops_no_vote():
    review = after(one(), (ADA, "approve"))
    with raises_refused("stale"):
        decide(review, "1", proposal(revision=2), BO, NOW, ineligible_voters=[ADA.key])
    assert approvals_needed(of(review)) == 1


# ------------------------------------------------------------------------ edits


def test_an_edit_voids_the_votes_before_it():
    """T43: Vote, edit, vote: it waits; what runs at the end is what was edited, by votes on nothing else."""
    review = after(one(), (ADA, "approve"))
    assert approvals_needed(of(review)) == 1

    review, event = decide(review, "1", proposal("edit", n=2), BO, NOW)

    assert (event.kind, event.what) == ("edited", "edit")
    assert event.before == encode({"n": 1}).hash
    assert event.args_hash == encode({"n": 2}).hash == of(review).args_hash
    assert (of(review).revision, of(review).votes, approvals_needed(of(review))) == (2, (), 2)
    assert [(e.by, e.revision, e.name) for e in of(review).edits] == [(BO, 2, None)]
    with raises_refused(
        "stale", "pair was edited by “Bo” (U_BO) in the meantime. Look at it again."
    ):
        decide(review, "1", proposal(revision=1), CY, NOW)

    review = after(review, (ADA, "approve"))
    assert of(review).is_pending
    review = after(review, (CY, "approve"))
    made = decision_of(review)
    assert (made.type, made.by, made.revision) == ("edit", CY, 2)
    assert made.args_hash == of(review).args_hash == review.arguments("1").hash
    assert review.arguments("1").parse() == {"n": 2}
    assert replacement_calls(review) == {"c1": {"name": "pair", "args": {"n": 2}}}


def test_the_editors_own_approval_does_not_count_among_several():
    review = after(one(), (ADA, proposal("edit", n=2)))
    with raises_refused(
        "own_edit", "You made this edit yourself, so another person must approve it."
    ):
        after(review, (ADA, "approve"))
    assert decision_of(after(review, (BO, "approve"), (CY, "approve"))).type == "edit"
    assert decision_of(after(review, (ADA, "reject"))).type == "reject"


def test_after_another_edit_the_first_editor_may_approve():
    review = after(one(), (ADA, proposal("edit", n=2)), (BO, proposal("edit", n=3)))
    assert of(review).revision == 3
    assert decision_of(after(review, (ADA, "approve"), (CY, "approve"))).revision == 3


def test_a_policy_may_count_the_edit_as_an_approval():
    review = after(one(quorum=2, editor_approves=True), (ADA, proposal("edit", n=2)))
    assert ([v.by for v in of(review).votes], approvals_needed(of(review))) == ([ADA], 1)
    with raises_refused("already_voted"):
        after(review, (ADA, "approve"))
    assert decision_of(after(review, (BO, "approve"))).type == "edit"


def test_a_policy_may_ask_another_person_for_every_edit():
    """Given a quorum of one, then an approval decides, and an edit waits for somebody else's."""
    review = one(quorum=1, editor_approves=False)
    assert decision_of(after(review, (ADA, "approve"))).type == "approve"
    review = after(review, (ADA, proposal("edit", n=2)))
    assert of(review).is_pending
    assert decision_of(after(review, (BO, "approve"))).type == "edit"


def test_an_edit_back_to_the_first_arguments_is_an_edit():
    review = after(one(), (ADA, proposal("edit", n=2)), (BO, proposal("edit", n=1)))
    assert (of(review).revision, of(review).args_hash) == (3, of(one()).args_hash)
    with raises_refused("unchanged"):
        after(review, (CY, proposal("edit", n=1)))


def test_an_answer_that_changes_nothing_is_an_approval_as_its_system_means_it():
    """An edit over the HTTP API with the same arguments: it counts as its sender's vote, and not twice."""
    same = Proposal("edit", 1, args=encode({"n": 1}), name="pair", verbatim=True)
    review = after(one(), (ADA, same))
    assert (of(review).revision, [v.by for v in of(review).votes]) == (1, [ADA])
    with raises_refused("already_voted"):
        after(review, (ADA, same))


# ------------------------------------------------------------------------ another tool


def offer(**others: Any) -> Review:
    """A review of a call of `pair` that may be turned into these other tools, or into `twin`."""
    pair = {"channel_members": True, "quorum": 2}
    rules = policy(twin={"reviewers": pair}, **others)
    calls, tools = [ToolCall("c1", "pair", {"n": 1})], dict.fromkeys(["pair", "twin", *others])
    asked = judge_turn(rules, calls, **tools)
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def into(name: str | None, **args: Any) -> Proposal:
    return Proposal("edit", 1, args=encode(args or {"n": 1}), name=name)


def test_another_tool_is_another_revision_also_with_the_same_arguments():
    """Or a vote on the old tool would count for the new one."""
    review = after(offer(), (ADA, "approve"), (BO, into("twin")))
    assert (of(review).name, of(review).revision, of(review).votes) == ("twin", 2, ())
    with raises_refused("stale"):
        decide(review, "1", proposal(), CY, NOW)
    review = after(review, (ADA, "approve"), (CY, "approve"))
    assert (decision_of(review).type, decision_of(review).name) == ("edit", "twin")
    assert review.tool_name(review.calls[0]) == "twin"
    assert replacement_calls(review)["c1"]["name"] == "twin"
    assert not review.calls[0].idempotent


def test_an_edit_that_names_no_tool_keeps_the_one_that_stands_there():
    review = after(offer(), (ADA, into("twin")), (BO, into(None, n=2)))
    assert (of(review).name, of(review).revision) == ("twin", 3)
    back = after(review, (CY, into("pair", n=2)))
    assert (of(back).name, of(back).revision) == ("pair", 4)
    assert decision_of(after(back, (ADA, "approve"), (BO, "approve"))).name is None


@pytest.mark.parametrize(
    "rule",
    [
        {"notify": "slack:#first"},
        {"reviewers": {"users": ["U1", "U2"], "quorum": 2}},
        {"reviewers": {"channel_members": True, "quorum": 3}},
        {"confirm": True},
    ],
)
def test_an_edit_that_asks_others_or_more_is_nobodys_approval_yet(rule: dict[str, Any]):
    """Also where its editor would approve by it."""
    if "reviewers" not in rule:
        rule = {"reviewers": {"channel_members": True, "quorum": 2}, **rule}
    review = after(offer(other=rule), (ADA, into("other")))
    assert (of(review).name, of(review).votes, review.status) == ("other", (), "pending")
    assert of(review).newest_rule is not None


def test_an_edit_may_name_a_tool_of_which_less_is_asked():
    review = after(offer(other=True), (ADA, into("other")))
    assert (of(review).name, approvals_needed(of(review))) == ("other", 2)


# ------------------------------------------------------------------------ the requester


@pytest.mark.parametrize("requester", ["UADA", "slack:UADA"])
def test_the_requester_approves_nothing_of_their_own_agent(requester: str):
    """T46: By default where it takes two. They may reject it, or edit it for others to approve."""
    ada = Reviewer(channel="slack", team="T1", id="UADA", name="Ada")
    review = one(requester=requester)
    for name in ("Ada", "Somebody Else"):
        with raises_refused("requester", "another person must approve this"):
            after(review, (ada.model_copy(update={"name": name}), "approve"))
    changed = after(review, (ada, proposal("edit", n=2)))
    with raises_refused("requester"):
        after(changed, (ada, "approve"))
    assert decision_of(after(changed, (BO, "approve"), (CY, "approve"))).type == "edit"
    assert decision_of(after(review, (ada, "reject"))).type == "reject"


def test_the_requester_is_known_from_whichever_workspace_they_press() -> None:
    """T29: given an organisation of several workspaces; then the requester approves from none of them."""
    elsewhere = Reviewer(channel="slack", team="T2", id="UADA", name="Ada")
    review = one(requester="UADA", exclude_requester=True)
    with raises_refused("requester"):
        decide(review, "1", proposal("approve"), elsewhere, NOW)


def test_an_edit_that_approves_is_refused_to_the_requester_too():
    ada = Reviewer(channel="slack", team="T1", id="UADA", name="Ada")
    review = one(requester="UADA", exclude_requester=True)
    for plan in (proposal(), proposal("edit", n=2)):
        with raises_refused("requester"):
            after(review, (ada, plan))
    assert decision_of(after(review, (BO, proposal("edit", n=2)))).type == "edit"


def test_the_requester_may_approve_where_the_policy_says_so():
    ada = Reviewer(channel="slack", team="T1", id="UADA", name="Ada")
    for review in (one("ask", requester="UADA"), one(requester="UADA", exclude_requester=False)):
        assert decision_of(after(review, (ada, "approve"))).by == ada


def test_what_can_only_be_refused_is_known_before_the_form_opens():
    review = after(one(), (ADA, proposal("edit", n=2)), (BO, "approve"))
    for who, says, code in ((ADA, "approve", "own_edit"), (BO, "approve", "already_voted")):
        with raises_refused(code):
            check_voter(review, of(review), says, who)  # type: ignore[arg-type]
    check_voter(review, of(review), "approve", CY)
    check_voter(review, of(review), "reject", BO)
    check_voter(review, of(review), "edit", ADA)


# ------------------------------------------------------------------------ while votes exist


def test_a_deadline_decides_over_votes():
    rules = policy(
        both={"reviewers": {"channel_members": True, "quorum": 2}, "expire": {"after": "9s"}}
    )
    review = after(review_of([call("both")], by=rules)[0], (ADA, "approve"))
    review, event = apply_due(review, START + 9)
    assert (event.kind, event.action, event.what) == ("expired", "1", "reject")
    assert (decision_of(review).by, [v.by for v in of(review).votes]) == (None, [ADA])
    with raises_refused("already_decided", "The deadline already rejected both."):
        after(review, (BO, "approve"))
    assert claims.runnable_calls(review) == ()


def test_a_cancelled_review_takes_no_more_votes():
    review = cancel(after(one(), (ADA, "approve")), None, "gone on", NOW).review
    with raises_refused("cancelled"):
        after(review, (BO, "approve"))
    assert claims.runnable_calls(review) == ()
    assert "was cancelled" in answers(review)[0].content


def test_escalating_keeps_the_votes():
    review = after(one("jury"), (ADA, "approve"))
    review = escalate(review, Place("slack:#first"), BO, NOW).review
    assert ([v.by for v in of(review).votes], of(review).revision) == ([ADA], 1)


def two() -> Review:
    return review_of([call("pair", "c1", n=1), call("ask", "c2", n=1)])[0]
