"""Answers to Sagents: decisions on tool calls, and responses to questions, with Sagents' own texts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from hitl_core.dialects.parts import Json
from hitl_core.dialects.sagents import ask_user
from hitl_core.dialects.sagents.approvals import APPROVAL_DECISIONS
from hitl_core.dialects.sagents.ask_user import _OTHER, _accepts_other, _kind, _list_options
from hitl_core.dialects.sagents.interrupts import _group_actions, _is_single
from hitl_core.errors import DecisionError
from hitl_core.model import Action, DecisionType, Review
from hitl_core.review import Proposal
from tests.dialects.answers.items import AnswerItem, read_answer

_NOT_HANDLED_MESSAGE = "No middleware handled the resume for this interrupt"
_COUNT_MESSAGE = "Decision count ({given}) does not match HITL tool count ({asked})"
_ATOM = re.compile(r"[a-z_][A-Za-z0-9_]*[?!]?")


def read(wire: object, review: Review) -> dict[str, Proposal]:
    """Reads a list of decisions in the order of the actions, or the response to a question; for combined
    interrupts, a list of these.
    """
    reply = read_answer(wire)
    if not review.actions and isinstance(reply, list):
        raise DecisionError(
            "No interrupt data found in state. Cannot process decisions without interrupt context."
        )
    if not review.actions:
        raise DecisionError(_NOT_HANDLED_MESSAGE)
    groups = _group_actions(review)
    if _is_single(review):
        return _load_group(review, groups[0], reply)
    answers = cast(list[object], reply) if isinstance(reply, list) else []
    if len(answers) != len(groups):
        raise DecisionError(_COUNT_MESSAGE.format(given=len(answers), asked=len(groups)))
    proposals: dict[str, Proposal] = {}
    for group, answer in zip(groups, answers, strict=True):
        proposals |= _load_group(review, group, answer)
    return proposals


def _load_group(review: Review, group: Sequence[Action], answer: object) -> dict[str, Proposal]:
    first = AnswerItem(review, group[0], review.actions.index(group[0]))
    if ask_user.is_question(group[0]):
        return {group[0].key: _load_response(first, answer)}
    if not isinstance(answer, list):
        raise DecisionError(_NOT_HANDLED_MESSAGE)
    decisions = cast(list[object], answer)
    if len(decisions) != len(group):
        count = _COUNT_MESSAGE.format(given=len(decisions), asked=len(group))
        raise DecisionError(count, field="decisions")
    return {
        action.key: _load_approval(AnswerItem(review, action, first.index + n), decision)
        for n, (action, decision) in enumerate(zip(group, decisions, strict=True))
    }


def _load_approval(item: AnswerItem, decision: object) -> Proposal:
    if not isinstance(decision, dict):
        item.fail(f"Decision at index {item.index} is not a map", "type")
    fields = cast(Json, decision)
    if "type" not in fields:
        item.fail(
            f"Decision at index {item.index} missing required 'type' field: {inspect_value(fields)}",
            "type",
        )
    type_name = fields["type"]
    kind: DecisionType | None = next(
        (each for each in APPROVAL_DECISIONS if each == type_name and each in item.decision_types),
        None,
    )
    if kind is None:
        allowed = ", ".join(
            f":{each}" for each in item.decision_types if each in APPROVAL_DECISIONS
        )
        given = type_name if isinstance(type_name, str) else inspect_value(type_name)
        item.fail(
            f"Decision type '{given}' not allowed for tool '{item.tool}'. Allowed: [{allowed}]",
            "type",
            "not_allowed",
        )
    item.check_id(fields)
    if kind != "edit":
        return item.make_proposal(kind, "type")
    if "arguments" not in fields:
        item.fail(
            f"Decision at index {item.index} with type 'edit' must include 'arguments' field:"
            f" {inspect_value(fields)}",
            "arguments",
        )
    return item.make_proposal("edit", "arguments", args=fields["arguments"])


def _load_response(item: AnswerItem, response: object) -> Proposal:
    """Raises DecisionError, with Sagents' own texts."""
    fields = cast(Json, response) if isinstance(response, dict) else {}
    if fields.get("type") == "answer":
        return _load_answer(item, fields)
    if fields.get("type") != "cancel":
        expected = "Expected %{type: :answer, ...} or %{type: :cancel}"
        item.fail(f"Invalid response format. {expected}", "type")
    if "ignore" not in item.decision_types:
        item.fail("Cancellation is not allowed for this question", "type", "not_allowed")
    return item.make_proposal("ignore", "type")


def _load_answer(item: AnswerItem, fields: Json) -> Proposal:
    kind, more = _kind(item.action), fields.get("other_text")
    if more is not None and not isinstance(more, str):
        item.fail(f"{kind} 'other_text' must be a string", "other_text")
    if kind == "freeform":
        if not more:
            item.fail("freeform response requires 'other_text' field", "other_text")
        return item.make_proposal("respond", "other_text", answer=more)
    selected: object = fields.get("selected", [])
    values = cast(list[Any], selected) if isinstance(selected, list) else []
    if kind == "single_select" and len(values) != 1:
        item.fail("single_select requires exactly one selection", "selected")
    if not values:
        item.fail("multi_select requires at least one selection", "selected")
    is_other = _OTHER in values and _OTHER not in _list_options(item.action)
    if is_other and not _accepts_other(item.action):
        item.fail("'other' is not allowed for this question", "selected", "invalid_answer")
    if is_other:
        values = [each for each in values if each != _OTHER] + ([more] if more else [])
    answer = values if kind == "multi_select" else next(iter(values), None)
    message = more if more and not is_other and kind == "single_select" else None
    return item.make_proposal("respond", "selected", answer=answer, message=message)


def inspect_value(value: object, top: bool = True) -> str:
    """The value as Elixir's `inspect` writes it, with top-level keys and the `type` as atoms."""
    if isinstance(value, dict):
        items = sorted(cast(Json, value).items())
        pairs = [_format_pair(key, item, top) for key, item in items]
        return f"%{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        each = cast(list[object], value)
        return f"[{', '.join(inspect_value(item, top=False) for item in each)}]"
    if value is None:
        return "nil"
    return json.dumps(value, ensure_ascii=False)


def _format_pair(key: str, value: object, top: bool) -> str:
    if not top:
        return f"{json.dumps(key, ensure_ascii=False)} => {inspect_value(value, top=False)}"
    atom = key == "type" and isinstance(value, str) and _ATOM.fullmatch(value)
    name = key if _ATOM.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{name}: {f':{value}' if atom else inspect_value(value, top=False)}"
