"""Answers to LangChain for Python's batch, and one decision in its format."""

from __future__ import annotations

from typing import Any, cast

from hitl_core.dialects.parts import CAMEL, PYTHON_DECISIONS, SNAKE, Json, is_object
from hitl_core.errors import DecisionError
from hitl_core.model import DecisionType, Review
from hitl_core.review import Proposal
from tests.dialects.answers.items import (
    COUNT_MESSAGE,
    AnswerItem,
    answer_items,
    first_value,
    not_allowed_message,
    read_answer,
)

#: Other systems' names of our decisions.
ALIASES: dict[str, DecisionType] = {"accept": "approve", "response": "respond"}


def read(wire: object, review: Review) -> dict[str, Proposal]:
    """Reads `{"decisions": […]}`, also under an interrupt's id; `{}` has no decisions. Agent Inbox's list
    of responses is accepted too.
    """
    answer = read_answer(wire)
    if answer == {}:
        return {}
    if is_object(answer) and len(answer) == 1:
        (only,) = answer.values()
        answer = only if is_object(only, "decisions") else answer
    given: Any = answer.get("decisions") if is_object(answer) else answer
    if not isinstance(given, list):
        raise DecisionError(
            "`decisions` must be a list, with one decision for each action.", field="decisions"
        )
    decisions = cast(list[object], given)
    return {
        item.action.key: load_python_proposal(item, decision)
        for item, decision in zip(
            answer_items(review, decisions, COUNT_MESSAGE), decisions, strict=True
        )
    }


def load_python_proposal(item: AnswerItem, decision: object) -> Proposal:
    """Raises DecisionError."""
    if not isinstance(decision, dict):
        item.fail(f"Decision {item.index} for `{item.tool}` must be an object.", "type")
    fields = cast(Json, decision)
    if "type" not in fields:
        item.fail(f"Decision {item.index} for `{item.tool}` has no `type`.", "type")
    kind = read_kind(item, fields)
    item.check_id(fields)
    match kind:
        case "approve":
            return item.make_proposal("approve", "type")
        case "edit":
            return _load_edit(item, fields)
        case "respond":
            message = (
                first_value(fields, "message", "args")
                if fields["type"] != "respond"
                else fields.get("message")
            )
            if not isinstance(message, str):
                item.fail(
                    f"Decision {item.index} for `{item.tool}` needs a `message`: the model gets it in place"
                    " of the tool's result.",
                    "message",
                )
            return item.make_proposal("respond", "message", message=message)
        case _:
            reason = fields.get("message")
            return item.make_proposal("reject", "message", message=str(reason) if reason else None)


def read_kind(item: AnswerItem, fields: Json) -> DecisionType:
    """The decision type, by LangChain's name or by Agent Inbox's name for the same."""
    word = fields["type"]
    kind = ALIASES.get(word, word) if isinstance(word, str) else word
    decision_type: DecisionType | None = next(
        (known for known in PYTHON_DECISIONS if known == kind and known in item.decision_types),
        None,
    )
    if decision_type is None:
        allowed = [known for known in item.decision_types if known in PYTHON_DECISIONS]
        item.fail(not_allowed_message(item, str(fields), word, str(allowed)), "type", "not_allowed")
    return decision_type


def _load_edit(item: AnswerItem, fields: Json) -> Proposal:
    key = next((k for k in (SNAKE.edited, CAMEL.edited, "args") if k in fields), SNAKE.edited)
    edited = fields.get(key)
    if not isinstance(edited, dict):
        item.fail(
            f"Decision {item.index} for `{item.tool}` needs an `{SNAKE.edited}` with `name` and `args`.",
            SNAKE.edited,
        )
    action = cast(Json, edited)
    name = first_value(action, "name", "action")
    if not isinstance(name, str):
        item.fail(f"The edited action for `{item.tool}` has no `name`.", f"{key}.name")
    return item.make_proposal("edit", f"{key}.args", name=name, args=action.get("args"))
