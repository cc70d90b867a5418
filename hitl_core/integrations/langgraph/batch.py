"""The interrupt of LangChain's HumanInTheLoopMiddleware, in its default mode. Pure.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop: the value carries no ids, so the
calls are found in the last AI message, and the decisions go back in the order of the requests.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never, cast

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.types import Interrupt

from hitl_core.errors import IntegrationError
from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph import rulings
from hitl_core.integrations.langgraph.graph import Json, last_ai_message
from hitl_core.integrations.langgraph.rulings import Asked
from hitl_core.model import DECISION_TYPES, DecisionType, ToolCall
from hitl_core.policy import Policy, Ruling

log = logging.getLogger(__name__)

#: On a call that did not interrupt when the review was made: its predicate changed its mind.
LATE = "Nobody was asked about this call. Call the tool again if it is still needed."


@dataclass(frozen=True, slots=True)
class Batch:
    """`asked` holds the calls that wait, by their position in the message; the others are free.

    `poisoned`: LangChain saved an answer that it then refused, and will refuse every other as well.
    """

    interrupt_id: str
    poisoned: bool
    message: AIMessage
    asked: dict[int, Asked]

    @property
    def turn(self) -> str:
        if not self.message.id:
            raise IntegrationError(
                "The AI message has no id, so its review could not be found again."
            )
        return self.message.id

    def calls(self) -> list[ToolCall]:
        """All of the message, so that the review's id doesn't hang on what interrupts."""
        return [ToolCall.from_mapping(call) for call in self.message.tool_calls]

    def rulings(self, policy: Policy, schema_of: Callable[[str], Json | None]) -> list[Ruling]:
        return [
            rulings.gated(policy.judge(call), call, self.asked[position], schema_of(call.name))
            if position in self.asked
            else rulings.free(policy.judge(call), call)
            for position, call in enumerate(self.calls())
        ]

    def answer(self, outcome: Outcome) -> Json:
        """The resume value: one decision a request, each of a type that the request takes.

        Raises IntegrationError where no such type says what was decided.
        """
        calls = self.message.tool_calls
        return {
            "decisions": [
                _fitting(_decision(outcome, str(calls[position]["id"])), asked, calls[position])
                for position, asked in sorted(self.asked.items())
            ]
        }


def read_batch(
    interrupt: Interrupt, messages: Sequence[AnyMessage], poisoned: bool
) -> Batch | None:
    """None where this is no such interrupt, or its requests are not the message's."""
    value = interrupt.value
    requests, configs = _lists(value)
    message = last_ai_message(messages)
    if not requests or len(requests) != len(configs) or message is None:
        return None
    positions = _match(requests, message)
    if positions is None:
        log.warning("An interrupt's requests are not among the calls of the last AI message.")
        return None
    backwards = _match(requests[::-1], message, backwards=True)
    if backwards is not None and backwards[::-1] != positions:
        log.warning("Some calls of %s look the same, and not all of them interrupt.", message.id)
    asked = {
        position: _asked(request, config)
        for position, request, config in zip(positions, requests, configs, strict=True)
    }
    return Batch(interrupt.id, poisoned, message, asked)


def _lists(value: object) -> tuple[list[Json], list[Json]]:
    if not isinstance(value, dict):
        return [], []
    found = cast(Json, value)
    requests, configs = found.get("action_requests"), found.get("review_configs")
    if not isinstance(requests, list) or not isinstance(configs, list):
        return [], []
    return cast(list[Json], requests), cast(list[Json], configs)


def _match(
    requests: Sequence[Json], message: AIMessage, backwards: bool = False
) -> list[int] | None:
    """Where in the message each request is: in its order, by name and arguments."""
    places = list(enumerate(message.tool_calls))
    rest = iter(places[::-1] if backwards else places)
    found: list[int] = []
    for request in requests:
        wanted = (request.get("name"), request.get("args"))
        position = next((at for at, call in rest if (call["name"], call["args"]) == wanted), None)
        if position is None:
            return None
        found.append(position)
    return found


def _asked(request: Json, config: Json) -> Asked:
    """The default description repeats name and arguments, which a card shows better."""
    allowed: tuple[DecisionType, ...] = tuple(
        kind for kind in DECISION_TYPES if kind in config.get("allowed_decisions", ())
    )
    tail = f"\n\nTool: {request['name']}\nArgs: {request['args']}"
    return Asked(allowed, str(request.get("description") or "").removesuffix(tail))


def _decision(outcome: Outcome, call_id: str) -> Json:
    """What the review says on one call, in LangChain's words."""
    decision = outcome.decision(call_id)
    call = next(call for call in outcome.review.calls if call.tool_call_id == call_id)
    if decision is None:
        if call.verdict.kind == "allow":
            return {"type": "reject", "message": LATE}
        return _told(outcome, call_id)
    match decision.type:
        case "approve":
            return {"type": "approve"}
        case "edit":
            args = outcome.review.arguments(call.key).parse()
            return {"type": "edit", "edited_action": {"name": call.name, "args": args}}
        case "respond":
            return {"type": "respond", "message": decision.message or ""}
        case "reject" if decision.message:
            return {"type": "reject", "message": decision.message}
        case "reject" if decision.by is not None:
            return {"type": "reject"}
        case "reject" | "ignore":
            return _told(outcome, call_id)
    assert_never(decision.type)


def _told(outcome: Outcome, call_id: str) -> Json:
    """The same text that the guard would give, as a reason."""
    told = next(answer for answer in outcome.answers if answer.tool_call_id == call_id)
    return {"type": "reject", "message": told.content}


def _fitting(decision: Json, asked: Asked, call: Any) -> Json:
    if decision["type"] in asked.allowed:
        return decision
    if decision["type"] in ("reject", "respond") and decision.get("message") != LATE:
        # The guard in front of the tool obeys the review, whatever LangChain lets through.
        if "approve" in asked.allowed:
            return {"type": "approve"}
        if "edit" in asked.allowed:
            as_it_is = {"name": call["name"], "args": call["args"]}
            return {"type": "edit", "edited_action": as_it_is}
    raise IntegrationError(
        f"LangChain doesn't take {decision['type']!r} for `{call['name']}`, only "
        f"{', '.join(asked.allowed) or 'nothing'}: the run stays where it is."
    )
