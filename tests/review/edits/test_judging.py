"""An edit is judged again, by the rules that the review keeps."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import Refused
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DEFAULT_PLACE, Action, Place, Review, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import claims
from hitl_core.review.decisions import decide, judge_new_edit
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.escalation import (
    apply_due,
    deadline,
    due_at,
    escalate,
    next_step_at,
    start_clocks,
)
from hitl_core.review.visibility import visible_args
from tests.support.builders import START, approvals_needed, judge_turn, person

ADA, BO, CY = person("Ada").model_copy(update={"id": "UADA"}), person("Bo"), person("Cy")
NOW = START + 60


def amounts(least: int, most: int) -> dict[str, Any]:
    number = {"type": "integer", "minimum": least, "maximum": most}
    return {"properties": {"amount": number}, "required": ["amount"]}


FINANCE: dict[str, Any] = {
    "when": amounts(1_001, 10_000),
    "notify": "slack:#finance",
    "reviewers": {"groups": ["S1"], "quorum": 2},
}
SMALL: dict[str, Any] = {
    "when": amounts(0, 1_000),
    "notify": "slack:#ops",
    "escalate": [{"after": "10m", "to": "slack:#leads"}],
}


def ask(
    amount: int = 5,
    *,
    large: Any = None,
    small: Any = None,
    requester: str | None = None,
    **more: Any,
) -> Review:
    """A refund; more than 10,000 are denied. `more` are rules of other tools."""
    rules = {"refund": {**FINANCE, **(large or {})}, "refun*": {**SMALL, **(small or {})}, **more}
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": rules})
    calls = [ToolCall("c1", "refund", {"amount": amount, "note": "n"})]
    made = judge_turn(policy, calls, **dict.fromkeys(["refund", *more]))
    return build_review(ReviewKey("a", "t", "x", requester), made, 1, START)[0]


def to(amount: int, name: str | None = None, revision: int = 1) -> Proposal:
    return Proposal("edit", revision, args=encode({"amount": amount, "note": "n"}), name=name)


def edit(review: Review, amount: int = 5_000, **how: Any) -> Review:
    entitled = how.pop("entitled", False)
    revision = of(review).revision
    return decide(
        review, "1", to(amount, revision=revision, **how), ADA, NOW, has_new_grant=entitled
    ).review


def of(review: Review) -> Action:
    (action,) = review.actions
    return action


def test_an_edit_takes_the_rule_that_its_arguments_fall_under() -> None:
    """Given a refund of 5 that #ops may decide, when somebody there writes 5,000,
    then two of the finance group must approve it, in their channel, and nobody of #ops may."""
    review = edit(ask())
    action = of(review)

    assert (review.status, action.revision, action.decision, action.votes) == (
        "pending",
        2,
        None,
        (),
    )
    assert (action.places, approvals_needed(action)) == (("slack:#finance",), 2)
    assert [grant.reviewers.groups for grant in action.grants] == [("S1",)]
    assert action.newest_rule is not None
    assert action.newest_rule.rule == "refund"
    assert review.audiences == {"group:S1"}
    assert review.places == ("slack:#finance", "slack:#ops"), "the old card is drawn once more"

    once = decide(review, "1", Proposal("approve", 2), BO, NOW).review
    assert once.status == "pending"
    twice = decide(once, "1", Proposal("approve", 2), CY, NOW).review
    (call,) = claims.runnable_calls(twice)
    assert twice.arguments(call.key).parse()["amount"] == 5_000


def test_the_stored_review_judges_and_not_the_policy_file() -> None:
    """Given a review that came out of the store."""
    review = ask()
    stored = Review.model_validate_json(review.model_dump_json()).model_copy(
        update={"args": review.args}
    )
    assert of(edit(stored)).places == ("slack:#finance",)


def test_an_edit_that_the_policy_denies_is_refused_with_a_sentence() -> None:
    with pytest.raises(Refused, match="The policy denies refund with these arguments") as caught:
        edit(ask(), 50_000)
    assert caught.value.code == "denied"


def test_an_edit_under_the_same_rule_is_what_it_was() -> None:
    """One person's edit runs."""
    review = edit(ask(), 7)
    assert (review.status, of(review).earlier) == ("settled", ())


def test_what_the_policy_allows_is_asked_as_before() -> None:
    """Given an edit to what runs without asking, then the same people still decide,
    by the same rule."""
    others: dict[str, Any] = {"refu*": False}
    review = ask(5_000, **others)
    small = edit(review, 20_000)
    assert (of(small).route, approvals_needed(of(small))) == (of(review).route, 2)


@pytest.mark.parametrize(
    ("large", "entitled", "votes"),
    [
        ({"reviewers": {"groups": ["S1"], "quorum": 2, "editor_approves": True}}, True, 1),
        ({"reviewers": {"groups": ["S1"], "quorum": 2, "editor_approves": True}}, False, 0),
        ({"reviewers": {"groups": ["S1"], "quorum": 2}}, True, 0),
        ({"reviewers": {"groups": ["S1"]}}, False, 0),
        ({"reviewers": {"groups": ["S1"]}, "confirm": True}, True, 0),
        ({"reviewers": {"groups": ["S1"], "exclude_requester": True}}, True, 0),
    ],
)
def test_the_editors_own_approval_counts_by_the_new_rules_own_grant(
    large: dict[str, Any], entitled: bool, votes: int
) -> None:
    """Only if that rule accepts it; unknown means no."""
    excluded = "exclude_requester" in large["reviewers"]
    review = ask(large=large, requester="UADA" if excluded else None)
    review = edit(review, entitled=entitled)
    assert (review.status, len(of(review).votes)) == ("pending", votes)


def test_the_only_person_of_the_new_rule_decides_by_the_edit() -> None:
    review = edit(ask(large={"reviewers": {"groups": ["S1"]}}), entitled=True)
    assert review.status == "settled"


def test_a_rename_takes_the_other_tools_route_with_its_escalation() -> None:
    """Given an action that was passed on to #leads, and another tool with the same
    place and people, which is never passed on, when one of #leads renames it, then they may not decide it and
    their edit is no approval."""
    review = ask(refund_all={"notify": "slack:#ops"})
    passed = escalate(review, Place("slack:#ops"), BO, NOW).review
    assert len(of(passed).grants) == 2
    judged = judge_new_edit(passed, "1", to(5, "refund_all"), NOW)
    assert judged is not None
    grant = judged.new_grant
    assert grant is not None
    assert grant.places == ("slack:#ops",)

    after = decide(passed, "1", to(5, "refund_all"), ADA, NOW).review
    assert after.status == "pending"
    assert of(after).places == ("slack:#ops",)
    assert [grant.places for grant in of(after).grants] == [("slack:#ops",)]
    assert of(after).former_places == {"slack:#leads": NOW}


def test_a_rename_within_the_same_route_counts_as_before() -> None:
    same = {key: value for key, value in SMALL.items() if key != "when"}
    after = edit(ask(refund_all=same), 5, name="refund_all")
    assert after.status == "settled"


def test_nothing_gets_weaker_by_an_edit() -> None:
    """Given a strict rule, when an edit falls under a loose one, then only its people
    are others."""
    strict = {
        "must_read": True,
        "confirm": True,
        "redact": ["/note"],
        "reject_reason": "required",
        "allowed_decisions": ["approve", "edit", "reject"],
        "reviewers": {"groups": ["S1"], "quorum": 3, "exclude_requester": True},
    }
    loose = {"allowed_decisions": ["approve", "edit", "respond"], "reject_reason": "optional"}
    action = of(edit(ask(5_000, large=strict, small=loose, requester="U1"), 5))
    config, reviewers = action.config, action.route.reviewers
    assert action.places == ("slack:#ops",)
    assert (config.must_read, config.confirm, config.reject_reason) == (True, True, "required")
    assert config.allowed_decisions == ("approve", "edit", "reject")
    assert (reviewers.quorum, reviewers.exclude_requester) == (3, True)
    assert (reviewers.groups, reviewers.editor_approves) == ((), False)


def test_what_either_rule_hides_stays_hidden() -> None:
    secret = {"properties": {"note": {"type": "string", "writeOnly": True}}}
    review = edit(ask(small={"args_schema": secret}, large={"redact": ["/amount"]}))
    assert visible_args(review, review.calls[0]) == {"amount": "(hidden)", "note": "(hidden)"}
    back = edit(review, 5)
    assert visible_args(back, back.calls[0]) == {"amount": "(hidden)", "note": "(hidden)"}


def test_a_schema_that_held_before_an_edit_still_holds() -> None:
    """Given a rule with a schema, when an edit falls under one without."""
    short = {"properties": {"note": {"type": "string", "maxLength": 3}}}
    assert of(edit(ask(small={"args_schema": short}))).config.args_schema == short


def test_what_could_not_be_decided_is_refused() -> None:
    """Given a rule that takes no edit, whose people are too few, or that needs to
    know who asked."""
    for large, text in (
        ({"allowed_decisions": ["approve", "reject"]}, "doesn't allow an edited refund"),
        ({"reviewers": {"users": ["U1"]}}, "fewer people may decide"),
        ({"reviewers": {"groups": ["S1"], "exclude_requester": True}}, "requester is unknown"),
    ):
        two = {"reviewers": {"users": ["U1", "U2"], "quorum": 2, "exclude_requester": False}}
        with pytest.raises(Refused, match=text) as caught:
            edit(ask(large=large, small=two))
        assert caught.value.code == "not_allowed"


def test_others_must_be_able_to_approve() -> None:
    """Given a rule where only an edit runs, when that edit falls to others, then it
    is refused."""
    with pytest.raises(Refused, match="Other people must approve"):
        edit(ask(small={"allowed_decisions": ["edit", "reject"]}))


# ------------------------------------------------------------------------------- time


def test_a_deadline_never_moves_later_and_does_what_it_did() -> None:
    small = {"expire": {"after": "1h", "decision": "ignore"}}
    large = {"expire": {"after": "30d", "decision": "respond", "message": "Later"}}
    action = of(edit(ask(small=small, large=large)))
    assert deadline(action) == START + 3600
    assert action.route.expire is not None
    assert action.route.expire.decision == "ignore"
    without = of(edit(ask(small=small)))
    assert deadline(without) == START + 3600
    expired = apply_due(edit(ask(small=small)), START + 3600).review
    assert of(expired).decision is not None


def test_a_deadline_may_come_sooner() -> None:
    """From when the edit was made; where there was none the new rule's begins."""
    large = {"expire": {"after": "10m"}}
    small = {"expire": {"after": "1h"}}
    assert deadline(of(edit(ask(small=small, large=large)))) == NOW + 600
    assert deadline(of(edit(ask(large=large)))) == NOW + 600


@pytest.mark.parametrize("quorum", [1, 2])
def test_an_edit_that_the_deadline_would_end_at_once_is_refused(quorum: int) -> None:
    """Given a refund that waits for 20 minutes; when somebody edits it so that a rule with a deadline of 15
    minutes applies, then nobody else could approve it. So it is refused, unless it needs nobody else."""
    members = {"channel_members": True}
    large = {
        "notify": "slack:#ops",
        "escalate": [],
        "reviewers": {**members, "quorum": quorum, "editor_approves": True},
        "expire": {"after": "15m"},
    }
    review = ask(small={"escalate": [], "reviewers": members}, large=large)
    if quorum == 1:
        after = decide(review, "1", to(5_000), ADA, START + 1_200, has_new_grant=True).review
        assert of(after).decision is not None
    else:
        with pytest.raises(Refused, match="the time to decide on this refund is over"):
            decide(review, "1", to(5_000), ADA, START + 1_200, has_new_grant=True)


def test_a_clock_that_waits_for_the_new_card_keeps_the_old_deadline() -> None:
    review = edit(ask(small={"expire": {"after": "1h"}}, large={"clock": "delivered"}))
    assert (of(review).clock_start, deadline(of(review)), due_at(review)) == (
        None,
        START + 3600,
        START + 3600,
    )
    shown = start_clocks(review, ["1"], DEFAULT_PLACE, NOW + 5).review
    assert (of(shown).clock_start, deadline(of(shown))) == (NOW + 5, START + 3600)


def test_steps_that_were_taken_end_with_their_rule() -> None:
    """And the new rule's own chain begins with the edit, not before people could see
    it."""
    large = {"escalate": [{"after": "10m", "to": "slack:#cfo"}]}
    passed = escalate(ask(large=large), Place("slack:#ops"), BO, NOW).review
    assert of(passed).places == ("slack:#ops", "slack:#leads")
    action = of(edit(passed))
    assert (action.places, action.escalations) == (("slack:#finance",), ())
    assert set(action.former_places) == {"slack:#ops", "slack:#leads"}
    assert next_step_at(action) == NOW + 600


def test_an_edit_back_returns_to_its_place_with_the_larger_numbers() -> None:
    back = of(edit(edit(ask()), 5))
    assert (back.places, back.revision, approvals_needed(back)) == (("slack:#ops",), 3, 2)
    assert set(back.former_places) == {"slack:#finance"}


# ------------------------------------------------------------------- answers as arguments


def test_an_answer_among_the_arguments_is_judged_as_well() -> None:
    """Given a tool that runs with a person's answer, then an answer that the policy
    denies is refused."""
    rule = {
        "when": {"properties": {"size": {"enum": ["s", "m"]}}},
        "allowed_decisions": ["approve", "reject"],
        "answer_schema": {"type": "string"},
        "output": {"key": "size", "into": "input"},
    }
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": {"order": rule}})
    made = judge_turn(policy, [ToolCall("c1", "order", {})])
    review = build_review(ReviewKey("a", "t", "x", None), made, 1, START)[0]
    with pytest.raises(Refused, match="The policy denies order"):
        decide(review, "1", Proposal("approve", 1, answer="xxl"), ADA, NOW)
    taken = decide(review, "1", Proposal("approve", 1, answer="m"), ADA, NOW).review
    assert taken.status == "settled"
