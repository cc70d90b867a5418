"""Sagents' approvals: the interrupt of its HumanInTheLoop middleware, and one decision of its answer.

https://hexdocs.pm/sagents/Sagents.Middleware.HumanInTheLoop.html
"""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.dialects.parts import (
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
