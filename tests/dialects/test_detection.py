"""The format of each system beyond its cases: what it can express, and what it can't."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.dialects.parts.decisions import FinalDecision
from hitl_core.errors import DialectError, Refused, UnsupportedByDialect
from hitl_core.gate import JudgedCalls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DecisionType, Review, ToolCall, encode
from hitl_core.model.review import DIALECTS
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import commands, decisions, escalation
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

NOW = START + 5
ADA = person("Ada")
Json = dict[str, Any]
FIVE = ("approve", "edit", "reject", "respond", "ignore")
EDIT = Proposal("edit", 1, args=encode({"x": 2}))
EDITED = {"name": "b", "args": {"x": 2}}
SAID: dict[str, Proposal] = {
    "approve": Proposal("approve", 1),
    "edit": EDIT,
    "reject": Proposal("reject", 1, "no"),
    "respond": Proposal("respond", 1, "blue"),
    "ignore": Proposal("ignore", 1),
}


def asking(*allowed: DecisionType, schema: Json | None = None, **rule: Any) -> Review:
    """A review of ours: one call of `b`."""
    made: Json = {"allowed_decisions": allowed or FIVE, **rule}
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": {"b": made}})
    call = ToolCall("c1", "b", {"x": 1})
    return built(JudgedCalls([call], [policy.judge(call)]))


def built(asked: JudgedCalls) -> Review:
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def decide(review: Review, kind: str) -> Review:
    return decisions.decide(review, "1", SAID[kind], ADA, NOW).review


# --------------------------------------------------------------------- every decision in every system

TOLD = "The tool call `b` was skipped. The tool was not executed."
WORDS: dict[str, dict[str, Any]] = {
    "langchain": {
        "approve": {"decisions": [{"type": "approve"}]},
        "edit": {"decisions": [{"type": "edit", "edited_action": EDITED}]},
        "reject": {"decisions": [{"type": "reject", "message": "no"}]},
        "respond": {"decisions": [{"type": "respond", "message": "blue"}]},
        "ignore": {"decisions": [{"type": "reject", "message": TOLD}]},
    },
    "langchain_per_call": {
        "approve": {"c1": {"type": "approve"}},
        "edit": {"c1": {"type": "edit", "edited_action": EDITED}},
        "reject": {"c1": {"type": "reject", "message": "no"}},
        "respond": {"c1": {"type": "respond", "message": "blue"}},
        "ignore": {"c1": {"type": "reject", "message": TOLD}},
    },
    "langchain_js": {
        "approve": {"decisions": [{"type": "approve"}]},
        "edit": {"decisions": [{"type": "edit", "editedAction": EDITED}]},
        "reject": {"decisions": [{"type": "reject", "message": "no"}]},
        "ignore": {"decisions": [{"type": "reject", "message": TOLD}]},
    },
    "sagents": {
        "approve": [{"type": "approve"}],
        "edit": [{"type": "edit", "arguments": {"x": 2}}],
        "reject": [{"type": "reject"}],
        "ignore": [{"type": "reject"}],
    },
    "agent_inbox": {
        "approve": [{"type": "accept", "args": {"action": "b", "args": {"x": 1}}}],
        "edit": [{"type": "edit", "args": {"action": "b", "args": {"x": 2}}}],
        "reject": [{"type": "response", "args": "no"}],
        "respond": [{"type": "response", "args": "blue"}],
        "ignore": [{"type": "ignore", "args": None}],
    },
    "arcgis": {
        "approve": {"id": "c1", "agentId": "a", "payload": True},
        "reject": {"id": "c1", "agentId": "a", "payload": False},
        "ignore": {"id": "c1", "agentId": "a", "payload": False},
    },
}
WORDS["xpertai"] = WORDS["langchain_js"]


@pytest.mark.parametrize("kind", FIVE)
@pytest.mark.parametrize("name", DIALECTS)
def test_each_decision_in_each_systems_words(name: str, kind: str) -> None:
    """Written exactly, or refused with the name of what is missing."""
    review = decide(asking(), kind)
    if kind in WORDS[name]:
        assert dialects.get(name).dump_decisions(review) == WORDS[name][kind]
    else:
        with pytest.raises(UnsupportedByDialect) as caught:
            dialects.get(name).dump_decisions(review)
        assert (caught.value.dialect, caught.value.feature) == (name, kind)


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_that_accept_an_edit_to_another_tool(name: str) -> None:
    """Only a dialect that has a word for it can do it."""
    dialect, review = dialects.get(name), asking()
    [action] = review.actions
    end = FinalDecision("edit", None, "another", {"x": 2})
    assert dialect.can_rename is (name in ("langchain", "langchain_js", "xpertai"))
    assert (dialect.dump_decision(review, action, end) is not None) is dialect.can_rename


@pytest.mark.parametrize("name", DIALECTS)
def test_an_interrupt_is_distinguished_from_an_answer(name: str) -> None:
    wire = dialects.get(name).dump_request(asking())
    assert dialects.is_interrupt(wire)
    for answer in WORDS[name].values():
        assert not dialects.is_interrupt(answer)


@pytest.mark.parametrize("value", [None, 7, "go", [], {}, {"a": float("nan")}, {1: 2}, object()])
def test_anything_else_is_no_interrupt(value: object) -> None:
    assert not dialects.is_interrupt(value)


@pytest.mark.parametrize(
    "wire", [{"message": "Go on?"}, {"kind": "textInput"}, {"kind": "textInput", "message": "Why?"}]
)
def test_a_part_of_a_question_of_arcgis_is_refused_by_its_name(wire: Json) -> None:
    """It can't be answered: an answer names the interrupt and its agent."""
    assert not dialects.is_interrupt(wire)
    with pytest.raises(DialectError, match=r"a part of an ArcGIS UiInterrupt.*`agentId`"):
        dialects.detect(wire)
    with pytest.raises(DialectError, match="A UiInterrupt needs its `agentId`"):
        dialects.get("arcgis").load_request(wire, "t")


@pytest.mark.parametrize("name", DIALECTS)
def test_there_is_no_answer_before_the_decision(name: str) -> None:
    with pytest.raises(Refused) as caught:
        dialects.get(name).dump_decisions(asking())
    assert caught.value.code == "not_decided"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_request_that_goes_out_comes_back(name: str) -> None:
    """With name, arguments and those decisions that the system knows."""
    dialect = dialects.get(name)
    asked = dialect.load_request(dialect.dump_request(asking()), "t")
    (call,), (ruling,) = asked.calls, asked.rulings
    assert (call.name, call.args, asked.dialect) == ("b", {"x": 1}, name)
    assert set(ruling.allowed_decisions) <= set(FIVE)
    assert "approve" in ruling.allowed_decisions


@pytest.mark.parametrize(
    ("name", "only"), [("langchain", "ignore"), ("langchain_js", "respond"), ("arcgis", "edit")]
)
def test_what_a_system_can_not_ask_is_refused(name: str, only: DecisionType) -> None:
    with pytest.raises(UnsupportedByDialect) as caught:
        dialects.get(name).dump_request(asking(only))
    assert (caught.value.dialect, caught.value.feature) == (name, only)


def test_a_rejection_by_the_deadline_says_so() -> None:
    """If the system writes no reason of its own."""
    review = asking("approve", "reject", expire={"after": "1s"})
    review = escalation.apply_due(review, NOW).review
    ((decision,),) = dialects.get("langchain").dump_decisions(review).values()
    assert decision["message"].startswith("Nobody decided on the tool call for `b` in time.")
    assert dialects.get("sagents").dump_decisions(review) == [{"type": "reject"}]


def test_a_cancelled_call_is_answered_as_a_rejection() -> None:
    """So every call gets an answer."""
    review = commands.cancel(asking(), None, "the user went on", NOW).review
    (decision,) = dialects.get("langchain_js").dump_decisions(review)["decisions"]
    assert decision["type"] == "reject"
    assert "was cancelled" in decision["message"]
    assert dialects.get("langchain_per_call").dump_decisions(review)["c1"]["type"] == "reject"


def test_an_answer_that_the_interrupt_does_not_take_is_refused() -> None:
    """Given a call that may only be approved, and a deadline that rejects."""
    review = escalation.apply_due(asking("approve", expire={"after": "1s"}), NOW).review
    with pytest.raises(UnsupportedByDialect, match="can't receive the decision reject on b"):
        dialects.get("langchain").dump_decisions(review)


# ------------------------------------------------------------------------- configurations


@pytest.mark.parametrize(
    ("name", "config", "text"),
    [
        ("langchain", {}, "`interrupt_on` is missing."),
        ("langchain", {"interrupt_on": {"b*": True}}, "write the tool's full name"),
        ("langchain", {"interrupt_on": {}, "edit_notise": "x"}, "Did you mean `edit_notice`?"),
        ("langchain_js", {"interrupton": {}}, "Did you mean `interruptOn`?"),
        (
            "langchain_js",
            {"interruptOn": {"b": {"allowedDecisions": []}}},
            "nobody could decide",
        ),
        (
            "langchain_js",
            {"interruptOn": {"b": {"allowedDecisions": ["respond"]}}},
            "is not a decision",
        ),
        ("xpertai", {"interruptOn": {"b": {"description": "d"}}}, "`allowedDecisions` is missing"),
        (
            "sagents",
            {"interrupt_on": {"b": {"allowed_decisions": ["aprove"]}}},
            "is not a decision",
        ),
        ("arcgis", {"tools": {"t": {"outputkey": "k"}}}, "Did you mean `outputKey`?"),
    ],
)
def test_a_configuration_that_would_open_a_gate_is_refused(
    name: str, config: Json, text: str
) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        dialects.get(name).load_policy(config)
    assert text in str(caught.value)


def test_an_empty_description_counts_only_if_intended() -> None:
    """XpertAI's editor writes an empty one for tools without a description. It would hide the call."""
    call = ToolCall("c1", "b", {})
    rule = {"interruptOn": {"b": {"allowedDecisions": ["approve"], "description": ""}}}
    texts = {
        name: dialects.get(name).load_policy(rule).judge(call).text
        for name in ("langchain_js", "xpertai")
    }
    default = "Tool execution requires approval\n\nTool: b\nArgs: {}"
    assert texts == {"langchain_js": "", "xpertai": default}


def test_true_and_missing_mean_what_each_system_means() -> None:
    call = ToolCall("c1", "b", {})
    allowed = {
        name: dialects.get(name).load_policy(config).judge(call).allowed_decisions
        for name, config in {
            "langchain": {"interrupt_on": {"b": True}},
            "langchain_js": {"interruptOn": {"b": True}},
            "sagents": {"interrupt_on": {"b": {}}},
        }.items()
    }
    three = ("approve", "edit", "reject")
    assert allowed == {
        "langchain": (*three, "respond"),
        "langchain_js": three,
        "sagents": three,
    }
    free = dialects.get("sagents").load_policy({"interrupt_on": {"b": {"allowed_decisions": []}}})
    assert free.judge(call).verdict.kind == "allow"


async def test_callables_of_a_configuration_may_be_async() -> None:
    async def when(asked: Any) -> bool:
        return asked.tool_call["args"]["x"] > 1

    async def describe(call: Json, state: Any, runtime: Any) -> str:
        return f"{call['name']} for {state['who']}"

    rule = {"allowedDecisions": ["approve"], "when": when, "description": describe}
    policy = dialects.get("langchain_js").load_policy({"interruptOn": {"b": rule}})
    ruling = await policy.judge_async(ToolCall("c1", "b", {"x": 2}), {"who": "Ada"})
    assert ruling.description == "b for Ada"
    assert (await policy.judge_async(ToolCall("c1", "b", {"x": 1}))).verdict.kind == "allow"
