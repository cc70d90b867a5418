"""A value that the policy or the schema hides is on no card, form or Home."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bot.card import build_card, find_open_action, thread_lines
from bot.card.arguments import list_arguments, mask
from bot.channels.slack.render import action_blocks, place_names, thread_message
from bot.channels.slack.render.card_message import message
from hitl_core.forms import make_form
from hitl_core.model import encode
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from tests.channels.scenes import ALICE, BOB, DEFAULT, NOW, decide, name_of, review_of

CANARY, OTHER = "canary-7d31", "canary-99e0"
SECRET = {"type": "string", "writeOnly": True}
#: As pydantic and others write them down.
SHAPES: dict[str, tuple[dict[str, Any], Any]] = {
    "itself": (SECRET, CANARY),
    "password": ({"type": "string", "format": "password"}, CANARY),
    "or-null": ({"anyOf": [SECRET, {"type": "null"}]}, CANARY),
    "one-of": ({"oneOf": [SECRET, {"type": "integer"}]}, CANARY),
    "all-of": ({"allOf": [{"type": "string"}, {"writeOnly": True}]}, CANARY),
    "reference": ({"$ref": "#/$defs/Card"}, {"number": CANARY}),
    "list": ({"type": "array", "items": SECRET}, [CANARY, "x"]),
    "first-of-list": ({"type": "array", "prefixItems": [SECRET]}, [CANARY, "x"]),
    "any-name": ({"type": "object", "additionalProperties": SECRET}, {"x": CANARY}),
    "named-so": ({"type": "object", "patternProperties": {"^x": SECRET}}, {"x": CANARY}),
    "all-of-it": ({"type": "object", "writeOnly": True}, {"x": {"y": CANARY}}),
}


def _schema(value: dict[str, Any]) -> dict[str, Any]:
    card = {"type": "object", "properties": {"number": SECRET}}
    properties = {"value": value, "plain": {"type": "string"}}
    return {"type": "object", "properties": properties, "$defs": {"Card": card}}


@pytest.mark.parametrize("shape", SHAPES)
def test_promise_8_what_a_form_hides_no_card_shows(shape: str) -> None:
    """Given a secret in any place of a schema, and a description that quotes it, then no card, line, modal or
    notification holds it, before an edit of it and after."""
    schema, value = _schema(SHAPES[shape][0]), SHAPES[shape][1]
    args = {"value": value, "plain": "seen"}
    rule = {"args_schema": schema, "description": lambda _: f"Uses {CANARY}."}
    edited = json.loads(json.dumps({**args, "plain": "new"}).replace(CANARY, OTHER))

    waiting = review_of(("pay", args), policy={"interrupt_on": {"*": rule}})
    by_two = {"users": ["U0ALICE", "U0BOB"], "quorum": 2}
    voting = review_of(("pay", args), policy={"interrupt_on": {"*": rule}, "reviewers": by_two})
    voting = decide(voting, "1", "edit", ALICE, args=edited)
    settled = decide(waiting, "1", "edit", BOB, args=edited)

    for review in (waiting, voting, settled):
        sent = [
            message(build_card(review, DEFAULT), name_of),
            action_blocks(review.id, find_open_action(review, "1"), place_names(name_of)),
            [thread_message(line, name_of) for line in thread_lines(review, DEFAULT)],
            repr(list_arguments(mask(review.arguments("1").parse(), schema))),
            repr(build_card(review, DEFAULT)),
        ]
        assert "seen" in str(sent) or "new" in str(sent)
        assert CANARY not in str(sent)
        assert OTHER not in str(sent)
    assert CANARY not in repr(make_form(schema, args))


def test_promise_8_what_is_hidden_in_an_object_is_not_quoted_either() -> None:
    """Given a policy that hides an object, and a description that quotes of it, then nobody reads that."""
    rule = {"redact": ["/card"], "description": lambda _: f"Charges {CANARY}."}
    args = {"card": {"number": CANARY, "owner": ["Jo Martin"]}, "amount": 80}
    drawn = build_card(review_of(("pay", args), policy={"interrupt_on": {"*": rule}}), DEFAULT)
    assert "80" in repr(drawn)
    assert CANARY not in repr(drawn)


def test_promise_8_what_another_tool_hides_is_hidden_once_it_is_that_tool() -> None:
    """Given a call that an edit turns into another tool's, then what either schema hides stays hidden."""
    hides = {"type": "object", "properties": {"pin": SECRET}}
    other = {"type": "object", "properties": {"token": SECRET, "pin": {"type": "string"}}}
    rules = {"pay": {"args_schema": hides}, "charge": {"args_schema": other}}
    review = review_of(
        ("pay", {"pin": CANARY}), policy={"interrupt_on": rules}, tools={"charge": None}
    )
    edit = Proposal("edit", 1, args=encode({"pin": CANARY, "token": OTHER}), name="charge")
    review = decisions.decide(review, "1", edit, ALICE, NOW + 60).review

    drawn = repr(
        [build_card(review, DEFAULT), find_open_action(review, "1"), thread_lines(review, DEFAULT)]
    )
    assert "charge" in drawn
    assert CANARY not in drawn
    assert OTHER not in drawn


PEM = "-----BEGIN KEY-----\nMIIEsecretsecret\n-----END KEY-----"


@pytest.mark.parametrize("value", [PEM, "987", "Größe-geheim"])
@pytest.mark.parametrize("write", [json.dumps, repr, str])
def test_an_agents_words_that_may_quote_what_is_hidden_are_not_shown(
    value: str, write: Callable[[Any], str]
) -> None:
    """Given a policy that hides an argument, and an agent whose description and title quote it in
    some written form, then no card, modal or line shows them, and the card says so."""
    args = {"host": "web1", "key": value}
    text = f"Deploys with {write(args)}."
    review = review_of(("deploy", args), policy={"interrupt_on": {"deploy": {"redact": ["/key"]}}})
    request = review.actions[0].request.model_copy(
        update={"description": text, "title": f"Deploy {write(value)}", "by_agent": True}
    )
    action = review.actions[0].model_copy(update={"request": request})
    review = review.model_copy(update={"actions": (action,)})

    drawn = str([message(build_card(review, DEFAULT), name_of), find_open_action(review, "1")])

    for form in (value, "secretsecret", write(value)):
        assert form not in drawn
    assert "Its description is not shown, because this review has hidden values." in drawn
    assert "Its title is not shown" in drawn
    assert "web1" in drawn


@pytest.mark.parametrize("token", ["Call the customer before you approve.", "before", "you"])
def test_an_agent_cuts_nothing_out_of_the_policys_own_words(token: str) -> None:
    """Given a warning in the policy and an argument that it hides, when the agent sends a part of
    that warning there, then people still read all of it."""
    warning = "Moves money out of the company. Call the customer before you approve."
    rule = {"redact": ["/token"], "description": warning}
    policy = {"interrupt_on": {"transfer": rule}}
    review = review_of(("transfer", {"token": token, "amount": 5000}), policy=policy)
    assert warning in str(message(build_card(review, DEFAULT), name_of))
