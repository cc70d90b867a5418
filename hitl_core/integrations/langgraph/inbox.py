"""A bare `interrupt([HumanInterrupt])`, as Agent Inbox reads it, from any node. Pure.

https://github.com/langchain-ai/agent-inbox: one or a list of `{"action_request": {"action",
"args"}, "config": {"allow_accept", "allow_edit", "allow_respond", "allow_ignore"},
"description"?}`, answered with a list of `{"type": "accept" | "edit" | "response" | "ignore",
"args"}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never, cast

from langgraph.types import Interrupt

from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph import rulings
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.rulings import Asked
from hitl_core.model import DecisionType, ToolCall
from hitl_core.policy import Policy, Ruling

ALLOWS: dict[str, DecisionType] = {
    "allow_accept": "approve",
    "allow_edit": "edit",
    "allow_respond": "respond",
    "allow_ignore": "ignore",
}
IGNORED: Json = {"type": "ignore", "args": None}


@dataclass(frozen=True, slots=True)
class Inbox:
    """One review for the whole list. The interrupt's id is the turn, and there is no AI message."""

    interrupt_id: str
    requests: tuple[Json, ...]

    @property
    def turn(self) -> str:
        return self.interrupt_id

    def calls(self) -> list[ToolCall]:
        """An action's title may hold anything; what a tool's name can't hold becomes "_"."""
        return [
            ToolCall(f"{self.interrupt_id}:{position}", _name(request), _action(request)["args"])
            for position, request in enumerate(self.requests)
        ]

    def rulings(self, policy: Policy, schema_of: Callable[[str], Json | None]) -> list[Ruling]:
        return [
            _ruling(policy, call, request)
            for call, request in zip(self.calls(), self.requests, strict=True)
        ]

    def answer(self, outcome: Outcome) -> Json:
        """What to resume with: one HumanResponse a request."""
        responses = [
            _response(outcome, call.id, request)
            for call, request in zip(self.calls(), self.requests, strict=True)
        ]
        return {self.interrupt_id: responses}


def read_inbox(interrupt: Interrupt) -> Inbox | None:
    """None where this is no such interrupt."""
    value = interrupt.value
    requests = cast(list[object], value) if isinstance(value, list) else [value]
    if not requests or not all(_is_request(request) for request in requests):
        return None
    return Inbox(interrupt.id, tuple(cast(list[Json], requests)))


def _is_request(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    request = cast(Json, value)
    action = request.get("action_request")
    return (
        isinstance(action, dict)
        and isinstance(cast(Json, action).get("action"), str)
        and isinstance(cast(Json, action).get("args"), dict)
        and isinstance(request.get("config"), dict)
    )


def _action(request: Json) -> Json:
    return cast(Json, request["action_request"])


def _name(request: Json) -> str:
    return re.sub(r"[^A-Za-z0-9_.:/-]", "_", _action(request)["action"])[:128] or "_"


def _ruling(policy: Policy, call: ToolCall, request: Json) -> Ruling:
    config = cast(Json, request["config"])
    allowed: tuple[DecisionType, ...] = tuple(
        kind for flag, kind in ALLOWS.items() if config.get(flag) is True
    )
    description = str(request.get("description") or "")
    if call.name != _action(request)["action"]:
        description = f"{_action(request)['action']}\n\n{description}".strip()
    ruling = policy.judge(call)
    if "reject" in ruling.allowed_decisions:  # where Agent Inbox can only ignore
        may: tuple[DecisionType, ...] = (*ruling.allowed_decisions, "ignore")
        ruling = replace(ruling, allowed_decisions=may)
    return rulings.gated(ruling, call, Asked(allowed, description), None)


def _response(outcome: Outcome, call_id: str, request: Json) -> Json:
    """There is no word for a rejection or a denial: the node is told to skip the action."""
    decision = outcome.decision(call_id)
    if decision is None:
        return IGNORED
    match decision.type:
        case "approve" | "edit" if call_id not in {call.id for call in outcome.execute}:
            return _over(outcome, call_id, request)
        case "approve":
            return {"type": "accept", "args": None}
        case "edit":
            args = next(call.args for call in outcome.execute if call.id == call_id)
            return {"type": "edit", "args": {"action": _action(request)["action"], "args": args}}
        case "respond":
            return {"type": "response", "args": decision.message or ""}
        case "reject" | "ignore":
            return IGNORED
    assert_never(decision.type)


def _over(outcome: Outcome, call_id: str, request: Json) -> Json:
    """An earlier process died while the node had its answer, and a person said that it ran, or to
    skip it."""
    told = next(answer for answer in outcome.answers if answer.tool_call_id == call_id)
    takes_text = request["config"].get("allow_respond") is True
    return {"type": "response", "args": told.content} if takes_text else IGNORED
