"""Sagents' approvals: what its HumanInTheLoop middleware interrupts with, and one decision on it.

https://hexdocs.pm/sagents/Sagents.Middleware.HumanInTheLoop.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hitl_core.dialects._decisions import Place
from hitl_core.dialects._elixir import inspected
from hitl_core.dialects._json import Json, envelope, is_mapping, listing, optional_text
from hitl_core.dialects._requests import (
    Asked,
    allowed_words,
    asked_args,
    decision_types,
    texts_of,
)
from hitl_core.errors import DialectError, Unsayable
from hitl_core.model import Action, DecisionType, Review
from hitl_core.model.call_shapes import arguments_in
from hitl_core.review.proposal import Proposal

#: Ours: Sagents' questions have a type, its approvals none.
TYPE = "approval"
ALL: tuple[DecisionType, ...] = ("approve", "edit", "reject")


def claims(wire: object) -> bool:
    """Whether its middleware would take this for its own: `restorable_interrupt?/1`."""
    return is_mapping(wire) and isinstance(wire.get("action_requests"), list)


def asked_of(value: object, configs: Json) -> Asked:
    request = envelope(value, "An entry of `action_requests`")
    name = request.get("tool_name")
    if not isinstance(name, str):
        raise DialectError("An entry of `action_requests` has no `tool_name`.")
    config = envelope(configs.get(name, {}), f"The config of {name}")
    allowed = listing(config.get("allowed_decisions", list(ALL)), "`allowed_decisions`")
    return Asked(
        name=name,
        args=arguments_in(request, "arguments", tool=name),
        description=optional_text(request.get("display_text"), "`display_text`"),
        allowed=decision_types(allowed),
        id=optional_text(request.get("tool_call_id"), "`tool_call_id`"),
        extra={"type": TYPE},
    )


def approvals_of(review: Review, group: Sequence[Action]) -> Json:
    configs: dict[str, list[DecisionType]] = {}
    for action in group:
        allowed = allowed_words("sagents", action, ALL)
        if configs.setdefault(action.request.name, allowed) != allowed:
            raise Unsayable(
                "sagents",
                "review_configs",
                f"sagents has one list of decisions a tool, and {action.request.name} has two here.",
            )
    return {
        "action_requests": [
            {
                "tool_call_id": action.request.tool_call_id,
                "tool_name": action.request.name,
                "arguments": asked_args(review, action),
                "display_text": texts_of(review, action) or None,
            }
            for action in group
        ],
        "review_configs": {
            name: {"allowed_decisions": allowed} for name, allowed in configs.items()
        },
        "hitl_tool_call_ids": [action.request.tool_call_id for action in group],
    }


def proposal_of(place: Place, decision: object) -> Proposal:
    if not isinstance(decision, dict):
        place.wrong(f"Decision at index {place.index} is not a map", "type")
    said = cast(Json, decision)
    if "type" not in said:
        place.wrong(
            f"Decision at index {place.index} missing required 'type' field: {inspected(said)}",
            "type",
        )
    word = said["type"]
    kind: DecisionType | None = next(
        (each for each in ALL if each == word and each in place.allowed), None
    )
    if kind is None:
        allowed = ", ".join(f":{each}" for each in place.allowed if each in ALL)
        place.wrong(
            f"Decision type '{word if isinstance(word, str) else inspected(word)}' not allowed for tool"
            f" '{place.tool}'. Allowed: [{allowed}]",
            "type",
            "not_allowed",
        )
    place.check_id(said)
    if kind != "edit":
        return place.proposal(kind, "type")
    if "arguments" not in said:
        place.wrong(
            f"Decision at index {place.index} with type 'edit' must include 'arguments' field:"
            f" {inspected(said)}",
            "arguments",
        )
    return place.proposal("edit", "arguments", args=said["arguments"])
