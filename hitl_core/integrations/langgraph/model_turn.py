"""One AI message, and which of its calls LangChain's HumanInTheLoopMiddleware asks about. Pure.

In its default mode that is one interrupt, whose value carries no ids: the calls are found in the message, by
name and arguments, in its order. With `interrupt_mode="per_call"` there is an interrupt for each call, which
says which one it is about (https://docs.langchain.com/oss/python/langchain/human-in-the-loop). These are
raised as the tools start, so by then the turn's free calls run already. Either way it is one review.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from hitl_core.errors import DialectError, HitlError, IntegrationError
from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.pause import Pause
from hitl_core.integrations.langgraph.question import to_wire
from hitl_core.model import ToolCall

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn(Pause):
    message: AIMessage

    def turn_calls(self) -> list[ToolCall]:
        if not self.turn:
            raise IntegrationError(
                "The AI message has no id, so its review could not be found again."
            )
        return [ToolCall.from_mapping(call) for call in self.message.tool_calls]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPause(ModelTurn):
    """`failed`: LangChain saved an answer that it then refused, and will refuse every other as well."""

    interrupt_id: str

    def resume_value(self, outcome: Outcome) -> Json:
        """What to resume with. Raises IntegrationError (see `said`)."""
        return {self.interrupt_id: self.format_answer(outcome)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCallPause(ModelTurn):
    """What still waits, in the model's order; each answer makes it less."""

    @property
    def interrupt_ids(self) -> tuple[str, ...]:
        return tuple(interrupt["id"] for interrupt in self.wire)

    @property
    def next_call_id(self) -> str:
        """Of the tool call that is answered next."""
        return self.wire[0]["value"]["tool_call_id"]

    def resume_value(self, outcome: Outcome, refusal: str | None = None) -> Json:
        """What to resume with: the next call's decision alone, because of answers that come together some may
        run before LangGraph finds that another is bad. `refused`: why the tool doesn't take what was decided.
        Raises IntegrationError (see `said`)."""
        first = self.interrupt_ids[0]
        return {first: self.format_answer(outcome, refusal)[first]}

    def has_fewer_than(self, before: object) -> bool:
        return isinstance(before, PerCallPause) and set(self.interrupt_ids) < set(
            before.interrupt_ids
        )


def read_batch(
    interrupt: Interrupt, state: Mapping[str, Any], path: tuple[str, ...], failed: bool
) -> BatchPause | None:
    """None where this is no such interrupt, or its requests are not the message's."""
    value, message = interrupt.value, last_ai_message(messages_of(state))
    if message is None or not isinstance(value, dict) or "action_requests" not in value:
        return None
    batch = BatchPause(
        turn=message.id or "",
        dialect="langchain",
        wire=value,
        state=state,
        path=path,
        failed=failed,
        message=message,
        interrupt_id=interrupt.id,
    )
    try:
        batch.interrupt_calls("thread")
    except DialectError:
        return None
    except HitlError:
        pass  # LangChain's, about calls that can't be reviewed: whoever submits it is told
    return batch


def read_per_call(
    interrupts: Sequence[Interrupt], state: Mapping[str, Any], path: tuple[str, ...]
) -> PerCallPause | None:
    """Those that ask about calls of the last AI message, as the model wrote them. None: there is none."""
    message = last_ai_message(messages_of(state))
    wires = {
        position: to_wire(interrupt)
        for interrupt in interrupts
        if (position := _find_position(interrupt, message)) is not None
    }
    if message is None or not wires:
        return None
    return PerCallPause(
        turn=message.id or "",
        dialect="langchain_per_call",
        wire=[wires[position] for position in sorted(wires)],
        state=state,
        path=path,
        message=message,
    )


def is_from_langchain(interrupt: Interrupt, node: str, state: Mapping[str, Any]) -> bool:
    """Whether LangChain's middleware raised it, and not another node; "" is one that is not known."""
    if request := read_approval(interrupt.value):
        message = last_ai_message(messages_of(state))
        ids = {call["id"] for call in message.tool_calls} if message else set[str | None]()
        return request.get("tool_call_id") in ids
    return looks_like_langchain(interrupt) and (not node or node.endswith(".after_model"))


def looks_like_langchain(interrupt: Interrupt) -> bool:
    value: Any = interrupt.value
    return read_approval(value) is not None or (
        isinstance(value, dict) and "action_requests" in value
    )


def read_approval(value: object) -> Json | None:
    """LangChain's ToolApprovalRequest. None where this is no such interrupt's value."""
    request: Any = value
    return request if isinstance(value, dict) and request.get("type") == "tool_approval" else None


def _find_position(interrupt: Interrupt, message: AIMessage | None) -> int | None:
    request = read_approval(interrupt.value)
    if request is None or message is None:
        return None
    wanted = tuple(request.get(key) for key in ("tool_call_id", "name", "args"))
    for position, call in enumerate(message.tool_calls):
        if (call["id"], call["name"], call["args"]) == wanted:
            return position
    return None
