"""Sagents' approvals: the interrupt of its HumanInTheLoop middleware, and one decision of its answer.

https://hexdocs.pm/sagents/Sagents.Middleware.HumanInTheLoop.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import cast

from hitl_core.dialects.parts import (
    AnswerItem,
    InterruptAction,
    Json,
    common_decisions,
    dialect_description,
    is_object,
    original_args,
    parse_decision_types,
    read_envelope,
    read_list,
    read_optional_text,
)
from hitl_core.errors import DialectError, UnsupportedByDialect
from hitl_core.model import Action, DecisionType, Review, read_arguments
from hitl_core.review import Proposal

#: Our own name. Sagents' approvals have no type; its questions have one.
TYPE = "approval"
APPROVAL_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "reject")


def is_approval(wire: object) -> bool:
    """Whether Sagents' middleware would accept this as its own interrupt: `restorable_interrupt?/1`."""
    return is_object(wire) and isinstance(wire.get("action_requests"), list)


def load_action(value: object, configs: Json) -> InterruptAction:
    request = read_envelope(value, "An entry of `action_requests`")
    name = request.get("tool_name")
    if not isinstance(name, str):
        raise DialectError("An entry of `action_requests` has no `tool_name`.")
    config = read_envelope(configs.get(name, {}), f"The config of {name}")
    allowed = read_list(
        config.get("allowed_decisions", list(APPROVAL_DECISIONS)), "`allowed_decisions`"
    )
    return InterruptAction(
        name=name,
        args=read_arguments(request, "arguments", tool=name, texts=("display_text",)),
        description=read_optional_text(request.get("display_text"), "`display_text`"),
        allowed=parse_decision_types(allowed),
        id=read_optional_text(request.get("tool_call_id"), "`tool_call_id`"),
        extra={"type": TYPE},
    )


def check_call_ids(interrupt: Json, actions: Sequence[InterruptAction]) -> None:
    """Raises DialectError unless `hitl_tool_call_ids` names exactly the calls that people see: Sagents itself
    approves each call that is not named there, whatever people answer.
    """
    ids = [each.id for each in actions]
    if interrupt.get("hitl_tool_call_ids", ids) != ids:
        raise DialectError(
            "`hitl_tool_call_ids` must be the `tool_call_id`s of `action_requests`, in the same order:"
            " Sagents approves all other calls by itself, also those that people reject."
        )


def dump_approvals(review: Review, group: Sequence[Action]) -> Json:
    configs: dict[str, list[DecisionType]] = {}
    for action in group:
        allowed = common_decisions("sagents", action, APPROVAL_DECISIONS)
        if configs.setdefault(action.request.name, allowed) != allowed:
            raise UnsupportedByDialect(
                "sagents",
                "review_configs",
                f"sagents has one list of decisions for each tool, but {action.request.name} has two here.",
            )
    return {
        "action_requests": [
            {
                "tool_call_id": action.request.tool_call_id,
                "tool_name": action.request.name,
                "arguments": original_args(review, action),
                "display_text": dialect_description(review, action) or None,
            }
            for action in group
        ],
        "review_configs": {
            name: {"allowed_decisions": allowed} for name, allowed in configs.items()
        },
        "hitl_tool_call_ids": [action.request.tool_call_id for action in group],
    }


def load_proposal(item: AnswerItem, decision: object) -> Proposal:
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


_ATOM = re.compile(r"[a-z_][A-Za-z0-9_]*[?!]?")


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
