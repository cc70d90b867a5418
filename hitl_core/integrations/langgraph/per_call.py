"""The interrupts of HumanInTheLoopMiddleware with `interrupt_mode="per_call"`: one a call. Pure.

Each says which tool call it is about (`ToolApprovalRequest`), and is answered with a bare decision. They
are raised as the tools start, so by then the turn's free calls run already. All of them are one review.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.types import Interrupt

from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph.graph import Json, last_ai_message
from hitl_core.integrations.langgraph.model_turn import ModelTurn, read_asked

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PerCall(ModelTurn):
    """What still waits; each answer makes it less. `interrupt_ids` are by position, as `asked` is."""

    interrupt_ids: dict[int, str]

    @property
    def next_id(self) -> str:
        """Of the tool call that is answered next."""
        return str(self._call(self._next)["id"])

    def answer(self, outcome: Outcome) -> Json:
        """What to resume with: the next call's decision alone, because of answers that come together
        some may run before LangGraph finds that another is bad. Raises IntegrationError (see
        `decision`)."""
        return self._resume(self.decision(self._next, outcome))

    def refuse(self, why: str) -> Json:
        """In place of `answer`, where the tool doesn't take what was decided."""
        return self._resume(self.fitting(self._next, {"type": "reject", "message": why}))

    def is_less_than(self, before: object) -> bool:
        return isinstance(before, PerCall) and self.asked.keys() < before.asked.keys()

    @property
    def _next(self) -> int:
        return min(self.asked)

    def _resume(self, decision: Json) -> Json:
        return {self.interrupt_ids[self._next]: decision}


def read_per_call(
    interrupts: Sequence[Interrupt], messages: Sequence[AnyMessage]
) -> PerCall | None:
    """Those that ask about calls of the last AI message, as the model wrote them. None: there is none."""
    message = last_ai_message(messages)
    found = {
        position: interrupt
        for interrupt in interrupts
        if (position := _position(interrupt, message)) is not None
    }
    if message is None or not found:
        return None
    asked = {at: read_asked(i.value, _allowed(i.response_schema)) for at, i in found.items()}
    return PerCall(message, asked, {at: i.id for at, i in found.items()})


def approval(interrupt: Interrupt) -> Json | None:
    """LangChain's ToolApprovalRequest. None where this is no such interrupt."""
    value: object = interrupt.value
    found = cast(Json, value) if isinstance(value, dict) else {}
    return found if found.get("type") == "tool_approval" else None


def _position(interrupt: Interrupt, message: AIMessage | None) -> int | None:
    request = approval(interrupt)
    if request is None:
        return None
    wanted = tuple(request.get(key) for key in ("tool_call_id", "name", "args"))
    for position, call in enumerate(message.tool_calls if message else ()):
        if (call["id"], call["name"], call["args"]) == wanted:
            return position
    log.warning("An interrupt's tool call is not among those of the last AI message.")
    return None


def _allowed(schema: object) -> Sequence[str]:
    """The decisions that an answer's schema takes: a choice by `type`, or a single one."""
    found = cast(Json, schema) if isinstance(schema, dict) else {}
    if "discriminator" in found:
        return tuple(found["discriminator"]["mapping"])
    kind = found.get("properties", {}).get("type", {}).get("const")
    return (kind,) if kind else ()
