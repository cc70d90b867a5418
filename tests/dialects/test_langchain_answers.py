"""LangChain: which call an answer is for, and which formats it may have."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.errors import DecisionError, DialectError
from hitl_core.gate import JudgedCalls
from hitl_core.model import ToolCall
from hitl_core.review import decisions
from tests.dialects.answers import read_answers
from tests.dialects.test_detection import ADA, EDIT, EDITED, NOW, Json, asking, built


def batch(**more: Any) -> Json:
    request: Json = {"name": "b", "args": {"x": 1}, "description": "D", **more}
    config = {"action_name": "b", "allowed_decisions": ["approve", "reject"]}
    return {"action_requests": [request], "review_configs": [config]}


def test_with_the_turn_its_calls_keep_their_ids() -> None:
    """Those that are not asked about are allowed."""
    turn = [ToolCall("c1", "a", {}), ToolCall("c2", "b", {"x": 1}), ToolCall("c3", "b", {"x": 5})]
    asked = dialects.get("langchain").load_request(batch(), "t", turn)
    assert [call.id for call in asked.calls] == ["c1", "c2", "c3"]
    assert [r.verdict.kind for r in asked.rulings] == ["allow", "review", "allow"]
    with pytest.raises(DialectError, match="asks about b, which is not a call of this turn"):
        dialects.get("langchain").load_request(batch(), "t", turn[:1])


def test_without_the_turn_the_same_interrupt_gets_the_same_ids() -> None:
    load = dialects.get("langchain").load_request
    first, again = load(batch(), "t"), load(batch(), "t")
    assert first.calls == again.calls
    assert first.calls[0].id != load(batch(), "other thread").calls[0].id
    assert first.calls[0].id != load(batch(args={}), "t").calls[0].id


def test_a_description_does_not_repeat_the_card() -> None:
    """And kept for answers in LangChain's format."""
    text = "Please look\n\nTool: b\nArgs: {'x': 1}"
    review = built(dialects.get("langchain").load_request(batch(description=text), "t"))
    assert review.actions[0].request.description == "Please look"
    assert dialects.get("langchain").dump_request(review) == batch(description=text)


@pytest.mark.parametrize("key", ["args", "arguments"])
def test_the_key_arguments_of_an_older_docs_page_is_accepted(key: str) -> None:
    wire = batch()
    wire["action_requests"][0][key] = wire["action_requests"][0].pop("args")
    assert dialects.get("langchain").load_request(wire, "t").calls[0].args == {"x": 1}


def test_an_answer_may_say_which_call_it_is_for() -> None:
    review = asking()
    load = partial(read_answers, dialects.get("langchain"))
    assert load({"decisions": [{"type": "approve", "tool_call_id": "c1"}]}, review)
    with pytest.raises(DecisionError) as caught:
        load({"decisions": [{"type": "approve", "tool_call_id": "c2"}]}, review)
    assert (caught.value.index, caught.value.tool, caught.value.field) == (0, "b", "tool_call_id")


def test_an_answer_may_be_keyed_by_its_interrupts_id() -> None:
    wire = {"i1": {"decisions": [{"type": "approve"}]}}
    assert read_answers(dialects.get("langchain"), wire, asking())["1"].type == "approve"


def test_other_formats_of_an_answer_are_accepted() -> None:
    load = partial(read_answers, dialects.get("langchain"))
    for decision in (
        {"type": "edit", "editedAction": EDITED},
        {"type": "edit", "args": {"action": "b", "args": {"x": 2}}},
    ):
        assert load({"decisions": [decision]}, asking())["1"].args == EDIT.args


def test_an_edit_is_checked_before_anything_is_stored() -> None:
    """The error names the path to what is wrong."""
    review = asking(args_schema={"type": "object", "properties": {"x": {"type": "integer"}}})
    edit = {"type": "edit", "edited_action": {"name": "b", "args": {"x": "two"}}}
    with pytest.raises(DecisionError) as caught:
        read_answers(dialects.get("langchain"), {"decisions": [edit]}, review)
    assert (caught.value.field, caught.value.code) == ("edited_action.args.x", "invalid_args")
    assert str(caught.value) == "edited_action.args.x: must be a whole number."


def test_an_edit_that_names_a_tool_that_is_not_there_says_where() -> None:
    edit = {"type": "edit", "edited_action": {"name": "c", "args": {}}}
    with pytest.raises(DecisionError) as caught:
        read_answers(dialects.get("langchain"), {"decisions": [edit]}, asking())
    assert (caught.value.field, caught.value.code) == ("edited_action.name", "unknown_tool")


def test_some_calls_of_a_turn_may_be_answered_one_by_one() -> None:
    """LangChain's per-call mode: each has its own interrupt."""
    per_call = dialects.get("langchain_per_call")
    policy = per_call.load_policy({"interrupt_on": {"b": True}})
    assert policy.dialect == "langchain_per_call"
    calls = [ToolCall("c1", "b", {"x": 1}), ToolCall("c2", "b", {"x": 1})]
    review = built(
        JudgedCalls(calls, [policy.judge(c) for c in calls], dialect="langchain_per_call")
    )
    with pytest.raises(DecisionError, match="multiple pending interrupts"):
        read_answers(per_call, {"type": "approve"}, review)
    with pytest.raises(DecisionError, match="No interrupt of this review has the id 'c3'"):
        read_answers(per_call, {"c3": {"type": "approve"}}, review)

    first = read_answers(per_call, {"c2": {"type": "approve"}}, review)
    review = decisions.decide_all(review, first, ADA, NOW).review
    assert per_call.dump_decisions(review) == {"c2": {"type": "approve"}}
    rest = read_answers(per_call, {"type": "reject"}, review)
    assert rest.keys() == {"1"}
    assert decisions.decide_all(review, rest, ADA, NOW).review.status == "settled"


def approval(interrupt_id: str, call_id: str, name: str = "b") -> Json:
    value = {"type": "tool_approval", "tool_call_id": call_id, "name": name, "args": {}}
    return {"id": interrupt_id, "value": value}


@pytest.mark.parametrize(("other", "call"), [("i2", "A"), ("A", "c2")])
def test_an_id_means_one_interrupt_or_none(other: str, call: str) -> None:
    """Tool call ids are the model's own: one that equals another interrupt's id could decide that one."""
    per_call = dialects.get("langchain_per_call")
    with pytest.raises(DialectError, match="'A' is used for two interrupts"):
        per_call.load_request([approval("A", "c1", "read"), approval(other, call, "wipe")], "t")
    same = built(per_call.load_request([approval("c1", "c1")], "t"))
    assert read_answers(per_call, {"c1": {"type": "approve"}}, same).keys() == {"1"}


def test_interrupt_ids_win() -> None:
    """Also in a review that was stored before such ids were refused."""
    per_call = dialects.get("langchain_per_call")
    loaded = per_call.load_request(
        [approval("i1", "c1", "read"), approval("i2", "c2", "wipe")], "t"
    )
    calls = [ToolCall("x", "read", {}), ToolCall("A", "wipe", {})]
    rulings = [
        ruling._replace(interrupt_id=id)
        for ruling, id in zip(loaded.rulings, ("A", "B"), strict=True)
    ]
    review = built(JudgedCalls(calls, rulings, dialect="langchain_per_call"))
    assert read_answers(per_call, {"A": {"type": "approve"}}, review).keys() == {"1"}


@pytest.mark.parametrize("second", ["approve", "reject"])
def test_two_answers_to_one_interrupt_are_refused(second: str) -> None:
    per_call = dialects.get("langchain_per_call")
    review = built(per_call.load_request([approval("i1", "c1")], "t"))
    with pytest.raises(DecisionError, match="answered twice") as caught:
        read_answers(per_call, {"i1": {"type": "reject"}, "c1": {"type": second}}, review)
    assert (caught.value.index, caught.value.tool, caught.value.field) == (1, "b", "id")


def test_a_schema_with_definitions_stays_whole_on_its_way() -> None:
    """Given the schema that LangGraph publishes, then our schema keeps its references, and both give the same
    results."""
    per_call = dialects.get("langchain_per_call")
    address = {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]}
    schema = {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/Address"}},
        "$defs": {"Address": address},
    }
    wire = per_call.dump_request(asking("approve", "edit", args_schema=schema))
    assert wire[0]["response_schema"]["$defs"]["Address"] == address
    review = built(per_call.load_request(wire, "t"))
    edit = {"type": "edit", "edited_action": {"name": "b", "args": {"to": {"zip": 7}}}}
    with pytest.raises(DecisionError) as caught:
        read_answers(per_call, {"c1": edit}, review)
    assert caught.value.field == "edited_action.args.to.zip"
    assert str(caught.value) == "edit.edited_action.args.to.zip: must be text."


def test_in_per_call_mode_the_tools_name_is_pinned() -> None:
    edit = {"type": "edit", "edited_action": {"name": "c", "args": {}}}
    with pytest.raises(DecisionError, match=r"edit\.edited_action\.name: Input should be 'b'"):
        read_answers(dialects.get("langchain_per_call"), {"c1": edit}, asking())


def test_an_edit_that_changes_nothing_counts_as_the_peer_counts_it() -> None:
    """Also if only edits are allowed: it runs unchanged."""
    review = asking("edit")
    wire = {"decisions": [{"type": "edit", "edited_action": {"name": "b", "args": {"x": 1}}}]}
    proposals = read_answers(dialects.get("langchain"), wire, review)
    after = decisions.decide_all(review, proposals, ADA, NOW).review
    assert (after.actions[0].revision, after.status) == (1, "settled")
    assert dialects.get("langchain").dump_decisions(after) == wire
