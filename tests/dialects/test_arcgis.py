"""ArcGIS: the parameters of its `interrupt` function, and the metadata of a question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.card.actions import choices_of
from hitl_core import dialects
from hitl_core.cli.policy.import_policy import import_policy
from hitl_core.dialects import arcgis
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate.outcome.answers import state_update
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, ToolCall
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import commands, decisions
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

Json = dict[str, Any]
METADATA = {"layer": "roads", "count": 12, "options": [{"value": "a", "label": "First"}, "b"]}
QUESTION: Json = {
    "id": "i1",
    "agentId": "map",
    "kind": "singleSelection",
    "message": "Which one?",
    "metadata": METADATA,
}


async def build(config: Json, name: str = "agent:nav", state: Any = None, **args: Any) -> Review:
    policy = dialects.get("arcgis").load_policy(config)
    asked = await judge_calls(policy, [ToolCall("i1", name, args)], state=state)
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def load(wire: Json) -> Review:
    asked = dialects.get("arcgis").load_request(wire, "t")
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


async def test_an_agents_function_gets_its_id_and_its_request() -> None:
    """The example of ArcGIS' own reference, and what the run was asked."""

    async def interrupt(request: Json) -> Json:
        return {
            "message": f"Agent {request['agentId']} is requesting approval to continue."
            f" Do you approve? {request['text']}, {request['state']['step']}"
        }

    config = {"agent": {"interrupt": interrupt}}
    review = await build(config, state={"step": 2}, text="Find parks")

    text = "Agent nav is requesting approval to continue. Do you approve? Find parks, 2"
    assert review.actions[0].request.description == text
    assert dialects.get("arcgis").dump_request(review)["message"] == text


async def test_a_tools_function_gets_its_name_and_arguments() -> None:
    """And can't change what would run."""

    def interrupt(request: Json) -> str:
        request["args"]["n"] = 5
        return f"Tool {request['toolName']}"

    review = await build({"tools": {"pay": {"interrupt": interrupt}}}, "pay", n=1)

    assert review.actions[0].request.description == "Tool pay"
    assert review.arguments("1").parse() == {"n": 1}


@pytest.mark.parametrize("source", ["wire", "config", "function"])
async def test_metadata_reaches_people_and_comes_back(source: str) -> None:
    """Given metadata of an interrupt, of a configuration, or made by a function; then
    people read it below the message, its options keep their labels, and the interrupt has it again."""
    parts = {key: QUESTION[key] for key in ("kind", "message", "metadata")}
    if source == "wire":
        review = load(QUESTION)
    else:
        interrupt = parts if source == "config" else lambda request: parts
        review = await build({"agent": {"interrupt": interrupt}})

    [action] = review.actions
    assert action.request.description == "Which one?\n\nlayer: roads\ncount: 12"
    assert [choice.label for choice in choices_of(action.config)] == ["First", "b"]
    again = dialects.get("arcgis").dump_request(review)
    assert (again["kind"], again["message"]) == ("singleSelection", "Which one?")
    assert again["metadata"] == {"toolName": action.request.name, "args": {}, **METADATA}


@pytest.mark.parametrize("source", ["wire", "config", "function"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("booleanChoice", ["delete all", "keep"]),
        ("textInput", [{"value": "a", "label": "First"}]),
        ("singleSelection", {"a": "First"}),
        ("multipleSelection", "a or b"),
    ],
)
async def test_options_that_are_no_choices_of_the_answer_are_read_as_context(
    kind: str, options: object, source: str
) -> None:
    """Given options that the answer isn't chosen from; then people read them below the message, as all other
    metadata, so nobody decides without them."""
    parts = {"kind": kind, "message": "Which one?", "metadata": {"options": options}}
    if source == "wire":
        review = load({**QUESTION, **parts})
    else:
        interrupt = parts if source == "config" else lambda request: parts
        review = await build({"agent": {"interrupt": interrupt}})

    text = options if isinstance(options, str) else json.dumps(options)
    assert review.actions[0].request.description == f"Which one?\n\noptions: {text}"
    assert dialects.get("arcgis").dump_request(review)["metadata"]["options"] == options


@pytest.mark.parametrize("kind", ["booleanChoice", "singleSelection"])
def test_options_at_two_places_of_an_interrupt_are_both_read(kind: str) -> None:
    """Given options beside the metadata and others in it; then people choose from the first, or read them,
    and read the others."""
    wire = {**QUESTION, "kind": kind, "metadata": {"options": ["b"]}, "options": ["a"]}
    [action] = load(wire).actions
    said = f"{action.request.description} {[each.label for each in choices_of(action.config)]}"
    assert all(f"{word}]" in said.replace("'", "").replace('"', "") for word in ("a", "b"))


def test_an_interrupt_without_a_message_is_asked_without_one() -> None:
    """Given metadata and no message; then people read the metadata, and we invent no
    message."""
    again = dialects.get("arcgis").dump_request(load({**QUESTION, "message": ""}))
    assert (again["message"], again["metadata"]["layer"]) == ("", "roads")


def test_an_imported_configuration_keeps_its_metadata_and_labels() -> None:
    config = b"""{"agent": {"interrupt": {"kind": "singleSelection", "message": "Which one?", "metadata":
        {"layer": "roads", "options": [{"value": "a", "label": "First"}, "b"]}}}}"""

    policy, text = import_policy("arcgis", config, "x.json")

    [rule] = Policy.from_yaml(text).rules
    assert rule.description == policy.rules[0].description == "Which one?\n\nlayer: roads"
    assert rule.answer_schema == {"anyOf": [{"const": "a", "title": "First"}, {"const": "b"}]}


@pytest.mark.parametrize("part", [{"metadata": {"when": object()}}, {"options": [object()]}])
def test_metadata_that_is_no_json_is_a_problem_with_its_path(part: Json) -> None:
    config = {"agent": {"interrupt": {"kind": "textInput", **part}}}
    with pytest.raises(InvalidPolicy) as caught:
        dialects.get("arcgis").load_policy(config)
    assert caught.value.problems[0].path == "agent.interrupt"


@pytest.mark.parametrize("payload", [True, False, "text", ["a"], 0])
def test_the_payload_is_found_in_the_agents_configuration(payload: Any) -> None:
    """`getHumanInTheLoopPayload(config)`: ArcGIS puts the response into
    `configurable.hitlResponse`."""
    response = {"id": "i1", "agentId": "map", "payload": payload}
    assert arcgis.payload({"configurable": {"thread_id": "t", "hitlResponse": response}}) is payload


@pytest.mark.parametrize(
    "config", [None, {}, {"configurable": {}}, {"configurable": {"hitlResponse": None}}, "x"]
)
def test_without_a_response_there_is_no_payload(config: object) -> None:
    assert arcgis.payload(config) is None


async def test_an_answer_that_was_cancelled_reaches_no_state() -> None:
    """Given an answer that the configuration puts into the agent's state, and a
    cancellation after it."""
    config = {"agent": {"interrupt": {"kind": "textInput"}, "outputKey": "picked"}}
    review = await build(config)
    message = Proposal("approve", 1, answer="Delete all")
    decided = decisions.decide(review, "1", message, person(), START + 1).review
    assert state_update(decided) == {"picked": "Delete all"}
    cancelled = commands.cancel(decided, None, None, START + 2).review
    assert state_update(cancelled) == {}


DELETE: Json = {"toolName": "delete", "args": {"layer": "roads"}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"metadata": json.dumps(DELETE)},
        {"metadata": [DELETE]},
        {"metadata": True},
        {"metadata": {**DELETE, "toolName": ["delete"]}},
        {"metadata": {**DELETE, "toolName": ""}},
        {"metadata": {**DELETE, "Args": {"layer": "all"}}},
        {"METADATA": DELETE},
        {"data": DELETE},
        {"tool": json.dumps(DELETE)},
    ],
)
def test_a_question_whose_call_would_not_be_shown_is_refused(wrong: Json) -> None:
    """Given a question with its call at a place where it is not read; then nobody is asked about the
    agent's run, without arguments, in its place."""
    wire = {"id": "i1", "agentId": "map", "kind": "booleanChoice", "message": "[Really?](x)"}
    assert load(wire).actions[0].request.name == "agent:map"

    with pytest.raises((DialectError, InvalidToolCall)):
        load({**wire, **wrong})
