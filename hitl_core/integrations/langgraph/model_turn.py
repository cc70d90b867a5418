"""One AI message, and which of its calls LangChain's HumanInTheLoopMiddleware asks about. Pure.

What both of its modes have in common (https://docs.langchain.com/oss/python/langchain/human-in-the-loop);
`batch` and `per_call` know how each asks, and how it takes its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from langchain_core.messages import AIMessage

from hitl_core.errors import IntegrationError
from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph import rulings
from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.rulings import Asked
from hitl_core.model import DECISION_TYPES, DecisionType, ToolCall
from hitl_core.policy import Policy, Ruling

#: On a call that did not interrupt when the review was made: its predicate changed its mind.
LATE = "Nobody was asked about this call. Call the tool again if it is still needed."


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """`asked` holds the calls that wait, by their position in the message; the others are free."""

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

    def decision(self, position: int, outcome: Outcome) -> Json:
        """What the review says on a call that waits, in LangChain's words, as one that it takes.

        Raises IntegrationError where none that it takes says what was decided.
        """
        return self.fitting(position, _decision(outcome, str(self._call(position)["id"])))

    def fitting(self, position: int, decision: Json) -> Json:
        """The same, or one that lets the call through: the guard in front of the tool obeys the
        review, whatever LangChain lets through."""
        call, allowed = self._call(position), self.asked[position].allowed
        if decision["type"] in allowed:
            return decision
        if decision["type"] in ("reject", "respond") and decision.get("message") != LATE:
            if "approve" in allowed:
                return {"type": "approve"}
            if "edit" in allowed:
                as_it_is = {"name": call["name"], "args": call["args"]}
                return {"type": "edit", "edited_action": as_it_is}
        raise IntegrationError(
            f"LangChain doesn't take {decision['type']!r} for `{call['name']}`, only "
            f"{', '.join(allowed) or 'nothing'}: the run stays where it is."
        )

    def _call(self, position: int) -> Json:
        return {**self.message.tool_calls[position]}


def read_asked(request: Json, allowed: Sequence[str]) -> Asked:
    """The default description repeats name and arguments, which a card shows better."""
    kinds: tuple[DecisionType, ...] = tuple(kind for kind in DECISION_TYPES if kind in allowed)
    tail = f"\n\nTool: {request['name']}\nArgs: {request['args']}"
    return Asked(kinds, str(request.get("description") or "").removesuffix(tail))


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
