"""Sagents, Agent Inbox and ArcGIS: their questions and answers."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.errors import DecisionError, UnsupportedByDialect
from hitl_core.gate import JudgedCalls
from hitl_core.gate.outcome.answers import answers
from hitl_core.model import Route, ToolCall
from hitl_core.policy import Policy
from hitl_core.review import decisions
from tests.dialects.answers import read_answers
from tests.dialects.answers.agent_inbox import page_offers
from tests.dialects.test_detection import (
    ADA,
    NOW,
    Json,
    asking,
    built,
    decide,
)
from tests.dialects.test_langchain_answers import batch


def test_a_sub_agents_interrupt_carries_its_path() -> None:
    inner: Json = {"action_requests": [{"tool_call_id": "1", "tool_name": "b", "arguments": {}}]}
    for key, who in (("interrupt_data", "mailer"), ("inner", "planner")):
        inner = {"type": "subagent_hitl", "sub_agent_id": "s", "task_name": who, key: inner}
    asked = dialects.get("sagents").load_request(inner, "t")
    assert asked.path == ("planner", "mailer")
    assert dialects.detect(inner) == "sagents"


def test_sagents_has_one_list_of_decisions_a_tool() -> None:
    policy = Policy.from_mapping(
        {
            "default": "review",
            "interrupt_on": {"b": {"when": {"required": ["x"]}, "allowed_decisions": ["approve"]}},
        }
    )
    calls = [ToolCall("c1", "b", {}), ToolCall("c2", "b", {"x": 1})]
    review = built(JudgedCalls(calls, [policy.judge(call) for call in calls]))
    with pytest.raises(UnsupportedByDialect, match="one list of decisions for each tool"):
        dialects.get("sagents").dump_request(review)


def test_a_rejection_in_sagents_words_is_no_error() -> None:
    review = decide(asking(), "reject").model_copy(update={"dialect": "sagents"})
    (answer,) = answers(review)
    assert answer.content == "Tool call 'b' was rejected by a human reviewer. Reason: no"
    assert answer.status == "success"


def test_an_inbox_rejects_by_a_response() -> None:
    """Agent Inbox has no rejection: its response is the reason."""
    inbox = dialects.get("agent_inbox")
    review = asking("approve", "reject")
    assert inbox.dump_request(review)[0]["config"]["allow_respond"] is True
    proposals = read_answers(inbox, [{"type": "response", "args": "not today"}], review)
    assert (proposals["1"].type, proposals["1"].message) == ("reject", "not today")
    assert read_answers(inbox, [{"type": "ignore", "args": None}], review)["1"].type == "reject"
    with pytest.raises(DecisionError, match="can't change the arguments"):
        read_answers(inbox, [{"type": "accept", "args": {"action": "b", "args": {"x": 7}}}], review)


def test_a_title_that_is_no_tool_name_comes_back_in_the_answer() -> None:
    wire = {
        "action_request": {"action": "Send the e-mail?", "args": {"x": 1}},
        "config": {f"allow_{word}": True for word in ("accept", "edit", "respond", "ignore")},
    }
    inbox = dialects.get("agent_inbox")
    review = built(inbox.load_request(wire, "t"))
    assert review.calls[0].name == "Send_the_e-mail_"
    assert inbox.dump_request(review) == [wire]
    (answer,) = inbox.dump_decisions(decide(review, "edit"))
    assert answer["args"] == {"action": "Send the e-mail?", "args": {"x": 2}}


def test_what_an_inbox_offers_when_everything_is_allowed() -> None:
    every = {f"allow_{word}": True for word in ("accept", "edit", "respond", "ignore")}
    request = {"action": "A", "args": {}}
    found = page_offers({"action_request": request, "config": every})
    assert [r["type"] for r in found.responses] == ["edit", "response", "ignore", "accept"]
    assert (found.submit, found.accepts) == ("accept", True)


def question(kind: str, **more: Any) -> Json:
    return {"id": "i1", "agentId": "nav", "kind": kind, "message": "Which?", **more}


@pytest.mark.parametrize(
    ("wire", "good", "bad"),
    [
        (question("booleanChoice"), True, "yes"),
        (question("textInput"), "north", 7),
        (question("singleSelection", metadata={"options": ["a", "b"]}), "a", "c"),
        (question("multipleSelection", metadata={"options": ["a", "b"]}), ["a", "b"], ["c"]),
    ],
)
def test_arcgis_asks_in_four_ways(wire: Json, good: Any, bad: Any) -> None:
    """The question is kept unchanged. The answer is checked against its options, and sent unchanged."""
    arcgis = dialects.get("arcgis")
    review = built(arcgis.load_request(wire, "t"))
    again = arcgis.dump_request(review)
    assert {key: again[key] for key in ("id", "agentId", "kind", "message")} == {
        key: wire[key] for key in ("id", "agentId", "kind", "message")
    }
    if "metadata" in wire:
        assert again["metadata"]["options"] == wire["metadata"]["options"]
    with pytest.raises(DecisionError):
        read_answers(arcgis, {"id": "i1", "agentId": "nav", "payload": bad}, review)
    answer = {"id": "i1", "agentId": "nav", "payload": good}
    after = decisions.decide_all(review, read_answers(arcgis, answer, review), ADA, NOW).review
    assert arcgis.dump_decisions(after) == answer


@pytest.mark.parametrize(
    "wire", [{"id": "i2", "agentId": "nav"}, {"id": "i1", "agentId": "other"}, {"id": ["i1"]}]
)
def test_arcgis_answers_another_interrupt_or_agent(wire: Json) -> None:
    review = built(dialects.get("arcgis").load_request(question("textInput"), "t"))
    with pytest.raises(DecisionError):
        read_answers(dialects.get("arcgis"), {**wire, "payload": "north"}, review)


async def test_arcgis_asks_what_a_callable_makes_of_the_call() -> None:
    async def interrupt(asked: Json) -> Json:
        options = list(asked["args"])
        return {"kind": "singleSelection", "message": "Which?", "metadata": {"options": options}}

    config = {"tools": {"b": {"interrupt": interrupt, "outputKey": "chosen"}}}
    policy = dialects.get("arcgis").load_policy(config)
    call = ToolCall("c1", "b", {"north": 1, "south": 2})
    review = built(JudgedCalls([call], [await policy.judge_async(call)], ("nav",), "arcgis"))
    wire = dialects.get("arcgis").dump_request(review)
    assert (wire["kind"], wire["metadata"]["options"]) == ("singleSelection", ["north", "south"])
    answer = {"id": "c1", "agentId": "nav", "payload": "south"}
    proposals = read_answers(dialects.get("arcgis"), answer, review)
    after = decisions.decide_all(review, proposals, ADA, NOW).review
    assert after.arguments("1").parse() == {"chosen": "south", "north": 1, "south": 2}


def test_the_route_of_an_interrupt_is_the_bots_own() -> None:
    asked = dialects.get("langchain").load_request(batch(), "t")
    assert asked.rulings[0].route == Route()
