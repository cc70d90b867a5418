"""Each field of a ruling also applies to a new revision, after an edit, a rename or an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hitl_core.errors import Refused
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DisplayHint, Review, ToolCall, encode
from hitl_core.policy import Policy, Ruling
from hitl_core.review import claims
from hitl_core.review.decisions import decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.visibility import redaction_pointers
from tests.support.builders import START, approvals_needed, judge_turn, person

ADA, NOW = person("Ada"), START + 60

#: What was asked stays as it was asked, and what is only about the judging of one call.
OF_THE_REQUEST = {
    "description", "text", "title", "interrupt_id", "accepted_decisions", "extra", "by_agent", "computed",
    "answer_by_agent", "line", "says_reviewers", "says_description", "unsure", "says_no",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """How a strict rule says it, and how to see that it holds. `refused`: an edit that falls under it is."""

    rule: dict[str, Any]
    holds: Any = None
    refused: str | None = None
    policy: Any = None


STRICT: dict[str, Case] = {
    "verdict": Case({}, lambda r: r.actions[0].newest_rule is not None, policy={"notify": "slack:#other"}),
    "allowed_decisions": Case(
        {"allowed_decisions": ["approve", "edit"]},
        lambda r: r.actions[0].config.allowed_decisions == ("approve", "edit", "reject"),
    ),
    "args_schema": Case(
        {"args_schema": {"properties": {"n": {"maximum": 10}}}},
        lambda r: "maximum" in str(r.actions[0].config.args_schema),
    ),
    "policy_schema": Case(
        {"args_schema": {"properties": {"secret": {"writeOnly": True}}}},
        lambda r: redaction_pointers(r.actions[0], {"secret": "s"}) == ("/secret",),
    ),
    "hiding_schema": Case(
        {"args_schema": {"properties": {"n": {"type": "integer"}}}},
        lambda r: redaction_pointers(r.actions[0], {"pin": "1"}) == ("/pin",),
    ),
    "trusts_tools": Case({}, lambda r: redaction_pointers(r.actions[0], {"pin": "1"}) == ("/pin",)),
    "reject_reason": Case(
        {"reject_reason": "required"}, lambda r: r.actions[0].config.reject_reason == "required"
    ),
    "must_read": Case({"must_read": True}, lambda r: r.actions[0].config.must_read),
    "hide_when_decided": Case(
        {"hide_when_decided": True}, lambda r: r.actions[0].config.hide_when_decided
    ),
    "confirm": Case({"confirm": True}, lambda r: r.actions[0].config.confirm),
    "display": Case(
        {"display": {"/n": "text"}},
        lambda r: r.actions[0].config.display == (DisplayHint(pointer="/n", style="text"),),
    ),
    "redact": Case({"redact": ["/secret"]}, lambda r: r.actions[0].config.redact == ("/secret",)),
    "route": Case(
        {"reviewers": {"channel_members": True, "quorum": 3, "exclude_requester": False}},
        lambda r: approvals_needed(r.actions[0]) == 3,
    ),
    "idempotent": Case({"idempotent": False}, lambda r: not r.calls[0].idempotent),
    "needs_requester": Case(
        {"reviewers": {"channel_members": True, "exclude_requester": True}}, refused="requester is unknown"
    ),
    "answer_schema": Case(
        {"allowed_decisions": ["approve", "reject"], "answer_schema": {"type": "string"}},
        refused="doesn't allow an edited",
    ),
    "output": Case(
        {
            "allowed_decisions": ["approve", "reject"],
            "answer_schema": {"type": "string"},
            "output": {"key": "why", "into": "input"},
        },
        refused="doesn't allow an edited",
    ),
}  # fmt: skip

LOOSE: dict[str, Any] = {"idempotent": True, "must_read": False}


def test_each_field_of_a_ruling_is_thought_of() -> None:
    """A new field of Ruling needs a case here, so that no edit can lose what it freezes."""
    assert set(Ruling._fields) == OF_THE_REQUEST | STRICT.keys()
    assert not OF_THE_REQUEST & STRICT.keys()


def review_of(strict: Case, name: str, n: int) -> Review:
    """`tool` with `n` below 5 falls under a loose rule, else, as `other` does, under the strict one."""
    loose = {**LOOSE, "when": {"properties": {"n": {"maximum": 4}}}}
    demanding = {**LOOSE, **strict.rule}
    rules = {"tool": loose, "too*": demanding, "other": demanding}
    config: dict[str, Any] = {"default": "deny", "trust_tool_schemas": True, "interrupt_on": rules}
    if strict.policy:
        for each in ("too*", "other"):
            rules[each] = {**demanding, **strict.policy}
    policy = Policy.from_mapping(config)
    pin = {"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}}
    call = ToolCall("c1", name, {"n": n, "secret": "s", "pin": "1"})
    asked = judge_turn(policy, [call], tool=pin, other=pin)
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def edit(review: Review, n: int, name: str | None = None) -> Review:
    args = encode({"n": n, "secret": "s", "pin": "1"})
    revision = review.actions[0].revision
    return decide(review, "1", Proposal("edit", revision, args=args, name=name), ADA, NOW).review


@pytest.mark.parametrize("field", sorted(STRICT))
@pytest.mark.parametrize("way", ["edit", "rename", "rename only"])
def test_what_a_ruling_freezes_holds_for_a_new_revision(field: str, way: str) -> None:
    """Given a call under a loose rule, when an edit brings it under a strict rule, then the strict rule
    applies in full."""
    case = STRICT[field]
    review = review_of(case, "tool", 1)
    target = "other" if way != "edit" else None
    n = 1 if way == "rename only" else 7
    if case.refused:
        with pytest.raises(Refused, match=case.refused):
            edit(review, n, target)
        return
    assert case.holds(edit(review, n, target))


def test_a_call_that_was_edited_does_not_run_twice_by_itself() -> None:
    """Given a GET that may run twice, when it was edited to a POST, approved and started, and its process
    died, then a person is asked."""
    rule = {"when": {"properties": {"method": {"const": "GET"}}}, "idempotent": True}
    policy = Policy.from_mapping({"default": "review", "interrupt_on": {"http": rule}})
    asked = judge_turn(policy, [ToolCall("c1", "http", {"method": "GET"})], http=None)
    review = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    assert review.calls[0].idempotent
    post = Proposal("edit", 1, args=encode({"method": "POST"}))
    review = decide(review, "1", post, ADA, NOW).review
    assert review.status == "settled"
    review = claims.claim(review, "p1", NOW, 30).review
    review = claims.start(review, review.fence, "1", NOW).review
    review = claims.expire_lease(review, NOW + 31).review
    assert [call.key for call in review.calls_in_doubt] == ["1"]


def test_an_edit_back_does_not_win_back_what_was_lost() -> None:
    two = {"channel_members": True, "quorum": 2, "exclude_requester": False}
    strict = Case({"idempotent": False, "reviewers": two})
    review = edit(edit(review_of(strict, "tool", 1), 7), 1)
    assert review.actions[0].revision == 3
    assert not review.calls[0].idempotent


ANSWERED: dict[str, Any] = {
    "allowed_decisions": ["approve", "reject"],
    "answer_schema": {"type": "string"},
    "output": {"key": "size", "into": "input"},
}


def answer_with(other: dict[str, Any], answer: str) -> Review:
    small = {"when": {"properties": {"size": {"enum": ["s"]}}}, "idempotent": True}
    rules = {"order": {**ANSWERED, **small}, "orde*": {**ANSWERED, **other}}
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": rules})
    asked = judge_turn(policy, [ToolCall("c1", "order", {})])
    review = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    return decide(review, "1", Proposal("approve", 1, answer=answer), ADA, NOW).review


def test_an_answer_among_the_arguments_takes_what_its_rule_freezes() -> None:
    assert answer_with({}, "s").calls[0].idempotent
    assert not answer_with({"idempotent": False}, "xxl").calls[0].idempotent
    assert answer_with({"redact": ["/size"]}, "xxl").actions[0].config.redact == ("/size",)


def test_an_answer_that_falls_to_another_question_is_refused() -> None:
    """Otherwise nobody would get that question."""
    question = {"answer_schema": {"enum": ["s", "xxl"]}}
    with pytest.raises(Refused, match="an answer to another question"):
        answer_with(question, "xxl")
