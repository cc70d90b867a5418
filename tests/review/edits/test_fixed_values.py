"""A readOnly value stays as it is, by every way to edit."""

# ruff: noqa: E501 - a schema and its arguments a line

from __future__ import annotations

import json
from typing import Any

import pytest

from hitl_core.errors import DecisionError
from hitl_core.forms import FormErrors, find_changed_fixed, make_form
from hitl_core.gate.submission.calls import JudgedCalls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, Reviewer, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.policy.kept_policy import dump_kept_policy
from hitl_core.review.decisions import decide
from hitl_core.review.edits.proposal import Proposal
from tests.forms.reading import read_answers

Json = dict[str, Any]
FIXED = {"type": "string", "readOnly": True}
ITEM = {"type": "object", "properties": {"id": FIXED, "n": {"type": "integer"}}}
ANN = Reviewer(channel="slack", team="T1", id="U0ANN", name="Ann")

#: A schema, arguments, and the same with what is fixed changed.
CASES: dict[str, tuple[Json, Json, Json]] = {
    "top": ({"properties": {"id": FIXED}}, {"id": "x"}, {"id": "y"}),
    "taken away": ({"properties": {"id": FIXED}}, {"id": "x", "n": 1}, {"n": 1}),
    "added": ({"properties": {"id": FIXED}}, {"n": 1}, {"id": "x", "n": 1}),
    "list": ({"properties": {"l": {"items": ITEM}}}, {"l": [{"id": "x", "n": 1}]}, {"l": [{"id": "y", "n": 1}]}),
    "re-ordered": ({"properties": {"l": {"items": ITEM}}}, {"l": [{"id": "x"}, {"id": "y"}]}, {"l": [{"id": "y"}, {"id": "x"}]}),
    "item added": ({"properties": {"l": {"items": ITEM}}}, {"l": []}, {"l": [{"id": "x"}]}),
    "item removed": ({"properties": {"l": {"items": ITEM}}}, {"l": [{"id": "x"}]}, {"l": []}),
    "texts": ({"properties": {"l": {"type": "array", "items": FIXED}}}, {"l": ["a"]}, {"l": ["b"]}),
    "prefixItems": ({"properties": {"l": {"prefixItems": [FIXED]}}}, {"l": ["a", "b"]}, {"l": ["c", "b"]}),
    "contains": ({"properties": {"l": {"contains": FIXED}}}, {"l": ["a"]}, {"l": ["c"]}),
    "patternProperties": ({"patternProperties": {"^x": FIXED}}, {"xa": "1"}, {"xa": "2"}),
    "additionalProperties": ({"additionalProperties": FIXED}, {"z": "1"}, {"z": "2"}),
    "unevaluatedProperties": ({"unevaluatedProperties": FIXED}, {"z": "1"}, {"z": "2"}),
    "dependentSchemas": ({"dependentSchemas": {"a": {"properties": {"b": FIXED}}}}, {"a": 1, "b": "x"}, {"a": 1, "b": "y"}),
    "dependencies": ({"dependencies": {"a": {"properties": {"b": FIXED}}}}, {"a": 1, "b": "x"}, {"a": 1, "b": "y"}),
    "then": ({"if": {"required": ["a"]}, "then": {"properties": {"b": FIXED}}}, {"a": 1, "b": "x"}, {"a": 1, "b": "y"}),
    "else": ({"if": {"required": ["z"]}, "else": {"properties": {"b": FIXED}}}, {"b": "x"}, {"b": "y"}),
    "allOf": ({"allOf": [{"properties": {"b": FIXED}}]}, {"b": "x"}, {"b": "y"}),
    "anyOf": ({"anyOf": [{"properties": {"b": FIXED}}, {"required": ["q"]}]}, {"b": "x"}, {"b": "y"}),
    "oneOf": ({"oneOf": [{"properties": {"b": FIXED}}]}, {"b": "x"}, {"b": "y"}),
    "$ref": ({"$defs": {"f": FIXED}, "properties": {"b": {"$ref": "#/$defs/f"}}}, {"b": "x"}, {"b": "y"}),
    "$anchor": ({"$defs": {"f": {"$anchor": "f", **FIXED}}, "properties": {"b": {"$ref": "#f"}}}, {"b": "x"}, {"b": "y"}),
    "an object": ({"properties": {"o": {"readOnly": True}}}, {"o": {"a": 1}}, {"o": {"a": 2}}),
    "everything": ({"readOnly": True}, {"a": 1}, {"a": 2}),
    "a number's type": ({"properties": {"n": {"readOnly": True}}}, {"n": 1}, {"n": True}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_fixed_value_is_found_everywhere_in_a_schema(name: str) -> None:
    schema, before, after = CASES[name]
    assert find_changed_fixed([schema], before, before) is None
    assert find_changed_fixed([schema], before, after) is not None


@pytest.mark.parametrize("name", CASES)
def test_no_edit_changes_it(name: str) -> None:
    """Given a review, when an edit comes as arguments (CLI, HTTP, another system),
    then it is refused."""
    schema, before, after = CASES[name]
    review = make(before, {"args_schema": schema})
    with pytest.raises(DecisionError, match="readOnly"):
        edit(review, after)


def test_what_is_not_fixed_may_change() -> None:
    schema, before, _ = CASES["list"]
    review = make(before, {"args_schema": schema})
    assert edit(review, {"l": [{"id": "x", "n": 2}]}).actions[0].revision == 2


def test_another_tool_does_not_circumvent_it() -> None:
    """Given an edit that turns the call into another tool, then what either schema
    fixes stays."""
    free, fixed = (
        {"args_schema": {"type": "object"}},
        {"args_schema": {"properties": {"id": FIXED}}},
    )
    for own, other in ((fixed, free), (free, fixed)):
        review = make({"id": "x"}, own)
        kept = dump_kept_policy(Policy.from_mapping({"default": "allow"}), ["other"])
        tools = {"other": other["args_schema"]}
        review = review.model_copy(update={"tools": tools, "kept_policy": kept})
        with pytest.raises(DecisionError, match="readOnly"):
            edit(review, {"id": "y"}, name="other")


def test_a_value_that_nobody_sees_is_not_lost() -> None:
    """Given a redacted value, when an edit leaves it out or has the mask in its
    place, then it is refused; another value was written on purpose."""
    before = {"card": {"number": "4242"}, "l": [{"pin": "1"}], "n": 1}
    review = make(before, {"redact": ["/card/number", "/l/0/pin"]})
    for after in (
        {**before, "card": {}},
        {**before, "card": {"number": "(hidden)"}},
        {**before, "l": []},
        {**before, "l": [{"pin": "(hidden)"}]},
    ):
        with pytest.raises(DecisionError, match="hidden"):
            edit(review, after)
    assert edit(review, {**before, "n": 2}).actions[0].revision == 2
    assert edit(review, {**before, "card": {"number": "1881"}}).actions[0].revision == 2


def test_a_form_locks_it_or_says_that_it_must_stay() -> None:
    for name in ("patternProperties", "dependentSchemas", "additionalProperties"):
        schema, before, after = CASES[name]
        pointer = next(f"/{key}" for key in after if before[key] != after[key])
        (field,) = [f for f in make_form(schema, before).fields if f.pointer == pointer]
        assert field.locked, name
    for name in ("then", "else", "anyOf"):  # one field of JSON
        schema, before, after = CASES[name]
        with pytest.raises(FormErrors, match="must keep b"):
            read_answers(schema, before, {"": json.dumps(after)})
    schema, before, _ = CASES["list"]
    with pytest.raises(FormErrors, match="must keep"):
        read_answers(schema, before, {"/l": '[{"id": "y", "n": 1}]'})
    schema, before, _ = CASES["texts"]
    with pytest.raises(FormErrors, match="must keep"):
        read_answers(schema, before, {"/l": "b"})


def make(args: Json, rule: Json) -> Review:
    policy = Policy.from_mapping({"default": "review", "interrupt_on": {"t": rule}})
    call = ToolCall("c1", "t", args)
    turn = ReviewKey("agent", "thread", "turn", None)
    return build_review(turn, JudgedCalls([call], [policy.judge(call)]), 1, 1_800_000_000.0)[0]


def edit(review: Review, args: Json, name: str | None = None) -> Review:
    action = review.actions[0]
    proposal = Proposal("edit", action.revision, args=encode(args), name=name)
    return decide(review, action.key, proposal, ANN, 1_800_000_001.0).review
