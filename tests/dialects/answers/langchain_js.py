"""Answers to LangChain for JavaScript and to XpertAI."""

from __future__ import annotations

from typing import Any, cast

from hitl_core.dialects.langchain_js import JAVASCRIPT_DECISIONS
from hitl_core.dialects.parts import CAMEL, SNAKE, Json, is_object
from hitl_core.errors import DecisionError
from hitl_core.model import DecisionType, Review
from hitl_core.policy import to_javascript
from hitl_core.review import Proposal
from tests.dialects.answers.items import (
    COUNT_MESSAGE,
    AnswerItem,
    answer_items,
    first_value,
    not_allowed_message,
    read_answer,
)


def read(wire: object, review: Review) -> dict[str, Proposal]:
    """`{decisions: […]}`."""
    answer = read_answer(wire, javascript=True)
    decisions: Any = answer.get("decisions") if is_object(answer) else None
    if not isinstance(decisions, list):
        raise DecisionError(
            "Invalid HITLResponse: decisions must be a non-empty array", field="decisions"
        )
    each = cast(list[object], decisions)
    return {
        item.action.key: _load_proposal(item, decision)
        for item, decision in zip(answer_items(review, each, COUNT_MESSAGE), each, strict=True)
    }


def _load_proposal(item: AnswerItem, decision: object) -> Proposal:
    if not isinstance(decision, dict):
        item.fail(f'Decision {item.index} for "{item.tool}" must be an object', "type")
    fields = cast(Json, decision)
    if "type" not in fields:
        item.fail(f'Decision {item.index} for "{item.tool}" has no type', "type")
    item.check_id(fields)
    word = fields["type"]
    kind: DecisionType | None = next(
        (known for known in JAVASCRIPT_DECISIONS if known == word and known in item.decision_types),
        None,
    )
    if kind is None:
        decision_text, allowed = (
            to_javascript(fields, 0),
            [k for k in item.decision_types if k in JAVASCRIPT_DECISIONS],
        )
        text = word if isinstance(word, str) else to_javascript(word, 0)
        item.fail(
            not_allowed_message(item, decision_text, text, to_javascript(allowed, 0)),
            "type",
            "not_allowed",
        )
    if kind == "edit":
        return _load_edit(item, first_value(fields, CAMEL.edited, SNAKE.edited))
    message = fields.get("message") if kind == "reject" else None
    if kind == "reject" and "message" in fields and not isinstance(message, str):
        item.fail(
            f'Tool call response for "{item.tool}" must be a string, got {_typeof(message)}',
            "message",
        )
    return item.make_proposal(kind, "message", message=cast(str | None, message))


def _load_edit(item: AnswerItem, edited: object) -> Proposal:
    action: Json = cast(Json, edited) if isinstance(edited, dict) else {}
    for key, kind, word in (("name", str, "a string"), ("args", dict, "an object")):
        if not isinstance(action.get(key), kind):
            item.fail(
                f'Invalid edited action for tool "{item.tool}": {key} must be {word}',
                f"{CAMEL.edited}.{key}",
            )
    return item.make_proposal(
        "edit", f"{CAMEL.edited}.args", name=action["name"], args=action["args"]
    )


def _typeof(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "object"
