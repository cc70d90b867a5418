"""What the policy says about arguments is on the card and in the form, whatever an agent adds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from bot.card import find_open_action
from hitl_core.errors import HitlError
from hitl_core.forms import make_form
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.visibility import redaction_pointers, visible_schema
from tests.gate.submission.test_agents_words import schemas
from tests.support.builders import START, judge_turn, person

Json = dict[str, Any]
ARGS: Json = {"kind": "b", "amt": 5000, "acc": "DE1"}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "amt": {
            "type": "number",
            "title": "Amount in EUR",
            "description": "Above 1,000 call first.",
        },
        "acc": {"type": "string", "title": "Receiving account"},
        "kind": {"oneOf": [{"const": "a", "title": "Gift"}, {"const": "b", "title": "Loan"}]},
        "way": {"enum": [1, 2], "x-enumNames": ["Fast", "Slow"]},
    },
}
CONFIG: Json = {"default": "review", "interrupt_on": {"pay": {"args_schema": SCHEMA}}}
CONTEXTS: dict[str, Json] = {
    "nothing": {"minProperties": 0},
    "types": {"properties": {"amt": {"type": "number"}, "acc": {"type": "string"}}},
    "another order": {"properties": {"kind": {}, "acc": {}, "amt": {}}},
    "a smaller menu": {"properties": {"way": {"enum": [2]}, "kind": {"enum": ["b"]}}},
    "another menu": {"properties": {"kind": {"oneOf": [{"const": "b", "title": "Refund"}]}}},
    "one of several": {"anyOf": [{"required": ["amt"]}, {"properties": {"amt": {"title": "x"}}}]},
    "other words": {"properties": {"amt": {"title": "Points", "description": "Harmless."}}},
}


def submit(context: Json | None, **more: Any) -> Review:
    policy = Policy.from_mapping(CONFIG)
    if context is not None:
        policy = policy.for_run({"interrupt_on": {"pay": {"args_schema": context}}})
    asked = judge_turn(policy, [ToolCall("c1", "pay", {**ARGS, **more})])
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def words_of(review: Review) -> tuple[object, ...]:
    """The texts on card and form about the arguments that the policy names."""
    (action,) = review.actions
    labels = [each.label for each in find_open_action(review, "1").excerpt.arguments]
    args = review.arguments("1").parse()
    form = make_form(visible_schema(action.config), args, redact=redaction_pointers(action, args))
    fields = [
        (field.label, field.hint, [option.label for option in field.options])
        for field in form.fields
        if field.pointer.strip("/") in SCHEMA["properties"]
    ]
    return labels, fields


@pytest.mark.parametrize("what", CONTEXTS)
def test_a_context_keeps_the_policys_texts(what: str) -> None:
    """Given a run's own schema, then titles, hints, names of choices and order are those of the policy."""
    assert words_of(submit(CONTEXTS[what])) == words_of(submit(None))


@given(schemas)
def test_a_contexts_schema_can_not_replace_the_policys_texts(context: Any) -> None:
    try:
        review = submit(context)
    except HitlError:
        return
    if review.actions:  # else both together can't be checked, and the call is denied
        assert words_of(review) == words_of(submit(None))


def test_a_property_of_the_agent_alone_has_a_field_without_texts() -> None:
    """Given a property that the policy doesn't name, then the form asks for it as the agent's schema
    says, under its key; its title is shown nowhere."""
    note = {"properties": {"note": {"enum": ["x", "y"], "title": "Approved by Maria"}}}
    (action,) = submit(note).actions
    form = make_form(visible_schema(action.config), ARGS)
    field = next(field for field in form.fields if field.pointer == "/note")
    assert (field.label, [option.label for option in field.options][:2]) == ("note", ["x", "y"])
    assert "Maria" not in repr(form)


def test_an_edit_keeps_the_texts() -> None:
    """Given an edit that falls under another rule with words of its own, then the form has those of both
    rules."""
    other = {"properties": {"amt": {"maximum": 100}, "note": {"title": "Why it is so little"}}}
    rules = {
        "pay": {"when": {"properties": {"amt": {"minimum": 100}}}, "args_schema": SCHEMA},
        "pa*": {"args_schema": other},
    }
    asked = judge_turn(
        Policy.from_mapping({"default": "review", "interrupt_on": rules}),
        [ToolCall("c1", "pay", ARGS)],
    )
    review = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    edited = encode({**ARGS, "amt": 5, "note": "n"})
    proposal = Proposal("edit", 1, None, edited)
    review = decisions.decide(review, "1", proposal, person(), START).review
    (action,) = review.actions
    assert action.config.policy_schema == {"type": "object", "allOf": [SCHEMA, other]}
    form = make_form(visible_schema(action.config), edited.parse())
    labels = {field.pointer: (field.label, field.hint) for field in form.fields}
    assert labels["/amt"][0] == "Amount in EUR"
    assert "call first" in (labels["/amt"][1] or "")
    assert labels["/note"][0] == "Why it is so little"
