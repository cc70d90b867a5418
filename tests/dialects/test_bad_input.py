"""Any input from outside gives a value or one of our errors, and never changes only a half."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitl_core import dialects
from hitl_core.errors import (
    DecisionError,
    DialectError,
    InvalidToolCall,
    UnsupportedByDialect,
)
from hitl_core.gate import JudgedCalls
from hitl_core.gate.submission.calls import freeze_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, Reviewer, ToolCall
from hitl_core.model.review import DIALECTS
from hitl_core.policy import InvalidPolicy
from hitl_core.review import decisions
from hitl_core.store.redis.fields import dump_data
from tests.dialects.answers import read_answers

ADA = Reviewer(channel="slack", team="T1", id="U1", name="Ada")
NAMES = list(DIALECTS)

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=12),
    st.sampled_from(
        ["", "approve", "edit", "reject", "accept", "__proto__", "constructor", "b", "1", "\ud800"]
    ),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**53, -(2**63), 10**400, 10**4000, float("nan"), float("inf"), 1e308]),
    st.floats(),
    TEXTS,
)
KNOWN_KEYS = """
type decisions edited_action editedAction name args arguments action message tool_call_id action_requests
review_configs allowed_decisions interrupt_on interruptOn description when argsSchema id agentId kind payload
config value response_schema tools agent outputKey
"""
KEYS = st.one_of(
    TEXTS,
    st.sampled_from(KNOWN_KEYS.split()),
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)

#: One interrupt that each dialect understands, and one answer to it.
WIRES: dict[str, tuple[Any, Any]] = {
    "langchain": (
        {
            "action_requests": [
                {"name": "b", "args": {"x": 1}, "description": "D"},
                {"name": "c", "args": {}, "description": "D"},
            ],
            "review_configs": [
                {"action_name": "b", "allowed_decisions": ["approve", "edit", "reject"]},
                {"action_name": "c", "allowed_decisions": ["respond"]},
            ],
        },
        {
            "decisions": [
                {"type": "edit", "edited_action": {"name": "b", "args": {"x": 2}}},
                {"type": "respond", "message": "m"},
            ]
        },
    ),
    "langchain_js": (
        {
            "actionRequests": [{"name": "b", "args": {"x": 1}, "description": "D"}],
            "reviewConfigs": [
                {
                    "actionName": "b",
                    "allowedDecisions": ["approve", "edit", "reject"],
                    "argsSchema": {"type": "object", "properties": {"x": {"type": "integer"}}},
                }
            ],
        },
        {"decisions": [{"type": "edit", "editedAction": {"name": "b", "args": {"x": 2}}}]},
    ),
    "langchain_per_call": (
        [
            {
                "id": "i1",
                "value": {
                    "type": "tool_approval",
                    "tool_call_id": "1",
                    "name": "b",
                    "args": {"x": 1},
                    "description": "D",
                },
            }
        ],
        {"i1": {"type": "edit", "edited_action": {"name": "b", "args": {"x": 2}}}},
    ),
    "sagents": (
        {
            "action_requests": [{"tool_call_id": "1", "tool_name": "b", "arguments": {"x": 1}}],
            "review_configs": {"b": {"allowed_decisions": ["approve", "edit"]}},
            "hitl_tool_call_ids": ["1"],
        },
        [{"type": "edit", "arguments": {"x": 2}}],
    ),
    "agent_inbox": (
        [
            {
                "action_request": {"action": "b c", "args": {"x": 1}},
                "config": {
                    "allow_accept": True,
                    "allow_edit": True,
                    "allow_respond": True,
                    "allow_ignore": True,
                },
                "description": "D",
            }
        ],
        [{"type": "edit", "args": {"action": "b c", "args": {"x": 2}}}],
    ),
    "arcgis": (
        {
            "id": "i1",
            "agentId": "nav",
            "kind": "singleSelection",
            "message": "Which?",
            "metadata": {"options": ["a", "b"]},
        },
        {"id": "i1", "agentId": "nav", "payload": "a"},
    ),
}
WIRES["xpertai"] = WIRES["langchain_js"]

CONFIGS: dict[str, Any] = {
    "langchain": {"interrupt_on": {"b": {"allowed_decisions": ["approve"], "description": "d"}}},
    "langchain_js": {"interruptOn": {"b": {"allowedDecisions": ["approve"], "argsSchema": {}}}},
    "sagents": {"interrupt_on": {"b": {"allowed_decisions": []}, "c": True}},
    "arcgis": {"agent": {"outputKey": "k"}, "tools": {"t": {"interrupt": {"kind": "textInput"}}}},
    "agent_inbox": {},
}
CONFIGS["langchain_per_call"] = CONFIGS["langchain"]
CONFIGS["xpertai"] = CONFIGS["langchain_js"]


@st.composite
def wrong_wires(draw: st.DrawFn, value: Any) -> Any:
    """Input that is nearly right: one part of it is replaced by another value."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 2))):
        value = _wrong_part(draw, value, draw(st.integers(0, 5)))
    return value


def _wrong_part(draw: st.DrawFn, value: Any, depth: int) -> Any:
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return draw(JSON)
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    key: Any = draw(st.sampled_from(keys))
    what = draw(st.sampled_from(["inside", "inside", "away", "more"]))
    if what == "away":
        del value[key]
    elif what == "more" and isinstance(value, dict):
        value[draw(KEYS)] = draw(JSON)
    elif what == "more" and isinstance(value, list):
        value.append(copy.deepcopy(value[key]))
    else:
        value[key] = _wrong_part(draw, value[key], depth - 1)
    return value


def near(samples: dict[str, Any]) -> st.SearchStrategy[tuple[str, Any]]:
    return st.sampled_from(NAMES).flatmap(
        lambda name: st.tuples(st.just(name), st.one_of(JSON, wrong_wires(samples[name])))
    )


def review_of(asked: JudgedCalls) -> Review:
    calls = freeze_calls(asked.calls)
    return build_review(ReviewKey("a", "t", "x", None), asked._replace(calls=calls), 1, 1.0)[0]


@given(near(CONFIGS))
@settings(max_examples=300, deadline=None)
def test_any_configuration(given: tuple[str, Any]) -> None:
    """It becomes a policy, or it is refused."""
    name, config = given
    try:
        policy = dialects.get(name).load_policy(config)
    except (InvalidPolicy, UnsupportedByDialect):
        return
    for tool in ("b", "t", "constructor", "__proto__"):
        assert policy.judge(ToolCall("1", tool, {"x": 1})).verdict.kind in ("allow", "review")


@given(near({name: wire for name, (wire, _) in WIRES.items()}))
@settings(max_examples=300, deadline=None)
def test_any_interrupt(given: tuple[str, Any]) -> None:
    """It becomes a review that can be stored and written in every dialect, or it is refused."""
    name, wire = given
    try:
        asked = dialects.get(name).load_request(wire, "t")
        review = review_of(asked)
    except (DialectError, InvalidToolCall):
        return
    dump_data(review)
    for other in DIALECTS:
        try:
            json.dumps(dialects.get(other).dump_request(review))
        except UnsupportedByDialect:
            assert other != name or name in ("sagents", "arcgis")


@given(near({name: answer for name, (_, answer) in WIRES.items()}))
@settings(max_examples=500, deadline=None)
def test_any_answer(given: tuple[str, Any]) -> None:
    """It is accepted as a whole and can be written again, or it is refused as a whole, with the place of the
    error."""
    name, wire = given
    dialect = dialects.get(name)
    review = review_of(dialect.load_request(WIRES[name][0], "t"))
    try:
        proposals = read_answers(dialect, wire, review)
    except DecisionError:
        return
    if not proposals:
        return
    try:
        answered = decisions.decide_all(review, proposals, ADA, 2.0).review
    except DecisionError as error:
        pytest.fail(f"what was accepted was refused later: {error}")
    dump_data(answered)
    if answered.status == "settled":
        text = dialect.dump_decisions(answered)
        again = read_answers(dialect, text, review)
        assert {k: (p.type, p.args) for k, p in again.items()} == {
            k: (p.type, p.args) for k, p in proposals.items()
        }


@given(JSON)
@settings(max_examples=300, deadline=None)
def test_anything_is_recognised_or_not(wire: Any) -> None:
    with suppress(DialectError):
        assert dialects.detect(wire) in DIALECTS
        assert dialects.split(wire)


@given(near({name: wire for name, (wire, _) in WIRES.items()}))
@settings(max_examples=200, deadline=None)
def test_what_is_nearly_an_interrupt_is_recognised_or_not(given: tuple[str, Any]) -> None:
    with suppress(DialectError):
        assert dialects.detect(given[1]) in DIALECTS


@pytest.mark.parametrize("name", NAMES)
def test_each_recognises_its_own(name: str) -> None:
    """XpertAI writes what LangChain for JavaScript does."""
    known = "langchain_js" if name == "xpertai" else name
    assert [dialects.detect(wire) for wire in WIRES[name]] == [known, known]
