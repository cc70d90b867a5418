"""Edits that choose another tool, questions with a schema, and answers to all actions at once."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import DecisionError, Refused
from hitl_core.gate.outcome.answers import (
    add_edit_notice,
    replacement_calls,
    state_update,
)
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Output, Review, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import claims
from hitl_core.review.decisions import decide, decide_all
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person
from tests.support.message_calls import message_tool_calls

NOW = START + 5
ADA = person("Ada")
ALL = ["approve", "edit", "reject"]
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

POLICY = Policy.from_mapping(
    {
        "default": "deny",
        "edit_notice": "A person changed this.",
        "interrupt_on": {
            "send": {"allowed_decisions": ALL, "idempotent": True},
            "draft": False,
            "post": {"allowed_decisions": ALL, "args_schema": NUMBER},
            "sign": {"allowed_decisions": ["approve", "reject"]},
            "pay": {"allowed_decisions": ALL, "notify": "slack:#finance"},
            "maybe": {"when": {"required": ["n"]}},
            "which": {"allowed_decisions": ["respond"], "answer_schema": {"enum": ["a", "b"]}},
            "why": {"allowed_decisions": ["respond"], "answer_schema": {"type": "string"}},
            "perhaps": {"allowed_decisions": ["respond"], "answer_schema": {"enum": ["a", None]}},
            "many": {
                "allowed_decisions": ["respond"],
                "answer_schema": {"type": "array", "items": {"enum": ["a", "b"]}},
            },
        },
    }
)
TOOLS: dict[str, Any] = dict.fromkeys(["send", "draft", "post", "sign", "pay", "maybe", "drop"])


async def review_of(*names: str, **args: Any) -> Review:
    calls = [ToolCall(f"c{n}", name, args) for n, name in enumerate(names, start=1)]
    asked = await judge_calls(POLICY, calls, tools=TOOLS)
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def rename(name: str, **args: Any) -> Proposal:
    return Proposal("edit", 1, args=encode(args), name=name)


# ----------------------------------------------------------------------- another tool


async def test_an_edit_may_name_another_tool_that_the_policy_allows() -> None:
    """It runs with its arguments and the same id; the model's own call stays declared."""
    review = await review_of("send", to="bob")

    after = decide(review, "1", rename("draft", to="bob"), ADA, NOW).review

    (call,) = claims.runnable_calls(after)
    assert (after.tool_name(call), call.tool_call_id) == ("draft", "c1")
    assert message_tool_calls(after) == [{"id": "c1", "name": "send", "args": {"to": "bob"}}]
    assert replacement_calls(after) == {"c1": {"name": "draft", "args": {"to": "bob"}}}
    assert add_edit_notice(after, "c1", "") == (
        'A person changed this. Executed instead: draft with arguments {"to": "bob"}.'
    )


async def test_the_same_name_is_no_other_tool() -> None:
    review = await review_of("send")
    after = decide(review, "1", rename("send", n=1), ADA, NOW).review
    assert after.actions[0].decision is not None
    assert after.actions[0].decision.name is None


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("drop", "denied", "The policy denies drop: send can't become it."),
        ("maybe", "denied", "The policy denies maybe"),  # as its `when` is not met
        ("sign", "not_allowed", "The policy doesn't allow an edited sign."),
        ("post", "invalid_args", "n: "),
        (
            "unknown",
            "unknown_tool",
            (
                "Reviewer edited tool call 'c1' to 'unknown', which is not an available tool. Available"
                " tools: draft, drop, maybe, pay, post, send, sign."
            ),
        ),
    ],
)
async def test_the_other_tools_own_rule_counts(name: str, code: str, text: str) -> None:
    review = await review_of("send")
    with pytest.raises(Refused) as caught:
        decide(review, "1", rename(name, x=1), ADA, NOW)
    assert caught.value.code == code
    if code != "invalid_args":
        assert str(caught.value).startswith(text)


async def test_the_other_tools_schema_must_admit_it() -> None:
    review = await review_of("send")
    after = decide(review, "1", rename("post", n=3), ADA, NOW).review
    assert after.tool_name(after.calls[0]) == "post"


async def test_what_may_run_twice_was_said_of_the_first_tool() -> None:
    """Given an idempotent tool and an edit to another, then a doubt is asked about."""
    review = await review_of("send")
    assert review.calls[0].idempotent
    after = decide(review, "1", rename("draft"), ADA, NOW).review
    assert not after.calls[0].idempotent


async def test_without_the_agents_tools_no_edit_names_another() -> None:
    calls = [ToolCall("c1", "send", {})]
    asked = await judge_calls(POLICY, calls)
    review = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    with pytest.raises(Refused, match="Available tools: none"):
        decide(review, "1", rename("draft"), ADA, NOW)


async def test_an_edit_that_can_not_be_checked_is_refused_and_the_rest_still_works() -> None:
    """Given an interrupt whose schema is none."""
    review = await review_of("post", n=1)
    (action,) = review.actions
    config = action.config.model_copy(update={"args_schema": {"$ref": "http://elsewhere/"}})
    broken = review.model_copy(update={"actions": (action.model_copy(update={"config": config}),)})
    with pytest.raises(Refused, match="An edit can't be checked here"):
        decide(broken, "1", Proposal("edit", 1, args=encode({"n": 2})), ADA, NOW)
    assert decide(broken, "1", Proposal("approve", 1), ADA, NOW).review.status == "settled"


# --------------------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("tool", "given", "value", "text"),
    [
        ("which", {"message": "a"}, "a", "a"),
        ("which", {"answer": "b"}, "b", "b"),
        ("why", {"message": "because"}, "because", "because"),
        ("many", {"answer": ["a", "b"]}, ["a", "b"], '["a","b"]'),
    ],
)
async def test_an_answer_to_a_question(tool: str, given: Any, value: Any, text: str) -> None:
    """The model reads its text; its value is kept beside it. Nothing runs."""
    review = await review_of(tool)
    after = decide(review, "1", Proposal("respond", 1, **given), ADA, NOW).review
    decision = after.actions[0].decision
    assert decision is not None
    assert (decision.answer, decision.message) == (value, text)
    assert claims.runnable_calls(after) == ()


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("which", {"message": "c"}),
        ("many", {"answer": ["a", "c"]}),
        ("many", {"message": "a"}),
        ("why", {"answer": 7}),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused(tool: str, given: Any) -> None:
    review = await review_of(tool)
    with pytest.raises(Refused, match="The answer must"):
        decide(review, "1", Proposal("respond", 1, **given), ADA, NOW)
    with pytest.raises(Refused, match="Write the answer"):
        decide(review, "1", Proposal("respond", 1), ADA, NOW)


async def with_output(into: Any, schema: Any) -> Review:
    calls = [ToolCall("c1", "send", {"n": 1})]
    asked = await judge_calls(POLICY, calls)
    (action,) = (review := build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]).actions
    config = action.config.model_copy(
        update={"output": Output(key="said", into=into), "answer_schema": schema}
    )
    return review.model_copy(update={"actions": (action.model_copy(update={"config": config}),)})


async def test_an_answer_may_go_into_the_tools_arguments() -> None:
    """They are new arguments, with a hash of their own: what runs is what was decided."""
    review = await with_output("input", {"type": "string"})
    with pytest.raises(Refused, match="Write or choose an answer"):
        decide(review, "1", Proposal("approve", 1), ADA, NOW)
    after = decide(review, "1", Proposal("approve", 1, answer="yes"), ADA, NOW).review
    assert after.arguments("1").parse() == {"n": 1, "said": "yes"}
    action = after.actions[0]
    assert (action.revision, action.args_hash) == (2, after.arguments("1").hash)
    assert [call.key for call in claims.runnable_calls(after)] == ["1"]


async def test_an_answer_may_go_into_the_agents_state() -> None:
    """To a question that takes yes or no, the decision is the answer."""
    review = await with_output("state", {"type": "boolean"})
    for kind, value in (("approve", True), ("reject", False)):
        after = decide(review, "1", Proposal(kind, 1), ADA, NOW).review  # pyright: ignore[reportArgumentType]
        assert state_update(after) == {"said": value}
        assert after.arguments("1").parse() == {"n": 1}


# ------------------------------------------------------------------------ whole answers


async def test_a_whole_answer_is_one_change() -> None:
    review = await review_of("send", "which", "pay")
    proposals = {
        "1": Proposal("edit", 1, args=encode({"n": 1})),
        "2": Proposal("respond", 1, "a"),
        "3": Proposal("reject", 1, "no"),
    }

    after, event = decide_all(review, proposals, ADA, NOW)

    assert after.status == "settled"
    assert (event.kind, event.action, event.what) == ("decided", "1,2,3", "edit,respond,reject")
    assert event.args_hash == ",".join(action.args_hash for action in after.actions)


async def test_of_an_answer_with_a_mistake_nothing_is_kept() -> None:
    review = await review_of("send", "which")
    proposals = {"1": Proposal("approve", 1), "2": Proposal("respond", 1, "c")}
    with pytest.raises(DecisionError) as caught:
        decide_all(review, proposals, ADA, NOW)
    error = caught.value
    assert (error.index, error.tool, error.code) == (1, "which", "invalid_answer")
    assert review.actions[0].is_pending


async def test_an_answer_to_nothing_is_none() -> None:
    review = await review_of("send")
    with pytest.raises(DecisionError, match="has no decision"):
        decide_all(review, {}, ADA, NOW)
    with pytest.raises(DecisionError, match="no such action"):
        decide_all(review, {"9": Proposal("approve", 1)}, ADA, NOW)


async def test_arguments_come_back_sorted_by_key_as_they_were_decided() -> None:
    """Given arguments and an edit in an order of their own; then what runs, and what
    the model is told, have the order of the stored bytes, at every depth; a list keeps its own."""
    review = await review_of("send", "send", z={"y": 1, "b": [{"d": 1, "c": 2}, 0]}, a=1)
    edit = Proposal("edit", 1, args=encode({"z": [2, 1], "m": {"q": 1, "a": 2}, "a": 1}))
    after = decide(review, "2", edit, ADA, NOW).review
    after = decide(after, "1", Proposal("approve", 1), ADA, NOW).review

    runs = [repr(after.arguments(call.key).parse()) for call in claims.runnable_calls(after)]
    assert runs == [
        "{'a': 1, 'z': {'b': [{'c': 2, 'd': 1}, 0], 'y': 1}}",
        "{'a': 1, 'm': {'a': 2, 'q': 1}, 'z': [2, 1]}",
    ]
    texts = '{"a": 1, "m": {"a": 2, "q": 1}, "z": [2, 1]}'
    assert f"Executed instead: send with arguments {texts}." in add_edit_notice(after, "c2", "ok")


@pytest.mark.parametrize("schema", [{"type": ["string", "null"]}, {"enum": ["a", None]}])
async def test_an_answer_may_be_null(schema: Any) -> None:
    """It was taken for no answer: who chose it was told to choose an answer, and where only null is allowed
    nobody could answer."""
    into_input = await with_output("input", schema)
    after = decide(into_input, "1", Proposal("approve", 1, answer=None), ADA, NOW).review
    assert after.arguments("1").parse() == {"n": 1, "said": None}
    into_state = await with_output("state", schema)
    after = decide(into_state, "1", Proposal("approve", 1, answer=None), ADA, NOW).review
    assert state_update(after) == {"said": None}
    with pytest.raises(Refused, match="Write or choose an answer"):
        decide(into_input, "1", Proposal("approve", 1), ADA, NOW)


async def test_null_in_the_tools_place_is_its_text() -> None:
    review = await review_of("perhaps")
    decision = (
        decide(review, "1", Proposal("respond", 1, answer=None), ADA, NOW)
        .review.actions[0]
        .decision
    )
    assert decision is not None
    assert (decision.answer, decision.message) == (None, "null")


async def test_a_system_without_a_word_for_null_never_gets_it() -> None:
    review = await with_output("state", {"enum": ["a", None]})
    (action,) = review.actions
    request = action.request.model_copy(update={"accepted_decisions": ("approve",)})
    asked = action.model_copy(update={"request": request})
    review = review.model_copy(update={"actions": (asked,)})
    with pytest.raises(Refused, match="can't be null"):
        decide(review, "1", Proposal("approve", 1, answer=None), ADA, NOW)


async def test_blanks_around_an_answer_say_nothing() -> None:
    """Given an answer with a line end, which an input leaves behind; then it is the text without it, so that
    it agrees with the same text of another person: both looked the same, and the review waited."""
    review = await review_of("why")
    (action,) = review.actions
    route = action.route.model_copy(
        update={"reviewers": action.route.reviewers.model_copy(update={"quorum": 2})}
    )
    review = review.model_copy(update={"actions": (action.model_copy(update={"route": route}),)})
    review = decide(review, "1", Proposal("respond", 1, "yes\n"), ADA, NOW).review
    decision = (
        decide(review, "1", Proposal("respond", 1, "yes"), person("Bob"), NOW)
        .review.actions[0]
        .decision
    )
    assert decision is not None
    assert (decision.answer, decision.message) == ("yes", "yes")
