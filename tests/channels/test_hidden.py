"""What the policy or the schema hides stands in nothing that is drawn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.card import arguments_of, card, open_of, thread
from bot.channels.slack.asking import action_blocks
from bot.channels.slack.blocks import message, thread_message
from hitl_core.forms import make_form
from tests.channels.scenes import ALICE, BOB, DEFAULT, decided, name_of, review_of

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
    rule = {"args_schema": schema, "description": f"Uses {CANARY}."}
    edited = json.loads(json.dumps({**args, "plain": "new"}).replace(CANARY, OTHER))

    waiting = review_of(("pay", args), policy={"interrupt_on": {"*": rule}})
    by_two = {"users": ["U0ALICE", "U0BOB"], "quorum": 2}
    voting = review_of(("pay", args), policy={"interrupt_on": {"*": rule}, "reviewers": by_two})
    voting = decided(voting, "1", "edit", ALICE, args=edited)
    settled = decided(waiting, "1", "edit", BOB, args=edited)

    for review in (waiting, voting, settled):
        sent = [
            message(card(review, DEFAULT), name_of),
            action_blocks(review.id, open_of(review, "1"), name_of),
            [thread_message(line, name_of) for line in thread(review, DEFAULT)],
            repr(arguments_of(review.arguments("1").parse(), schema)),
            repr(card(review, DEFAULT)),
        ]
        assert "seen" in str(sent) or "new" in str(sent)
        assert CANARY not in str(sent)
        assert OTHER not in str(sent)
    assert CANARY not in repr(make_form(schema, args))
