"""One AI message, and the calls of it about which LangChain's HumanInTheLoopMiddleware asks. Pure.

In its default mode there is one interrupt, without call ids. Its calls are found in the message by name,
arguments and order. With `interrupt_mode="per_call"` there is one interrupt for each call, with the call's id
(https://docs.langchain.com/oss/python/langchain/human-in-the-loop). These interrupts are raised when the
tools start, so calls that need no review are already running then. Both modes make one review.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.messages import AIMessage
from langgraph.types import Interrupt

from hitl_core.errors import DialectError, HitlError, IntegrationError
from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph.graph import (
    Json,
    answered_ids,
    last_ai_message,
    messages_of,
)
from hitl_core.integrations.langgraph.pauses.pause import Pause, to_wire
from hitl_core.model import MAX_REASON, ToolCall, storable_text

log = logging.getLogger(__name__)

#: The end of a reason that was cut.
_CUT = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn(Pause):
    message: AIMessage

    def turn_calls(self) -> list[ToolCall]:
        if not self.turn:
            raise IntegrationError(
                "The AI message has no id, so its review could not be found again."
            )
        reason = read_reason(self.message)
        calls = map(ToolCall.from_mapping, self.message.tool_calls)
        return [replace(call, reason=reason) for call in calls]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPause(ModelTurn):
    """A pause of the default mode. `failed`: LangChain saved an answer and then refused it; it will refuse
    every other answer too.
    """

    interrupt_id: str

    @property
    def answered(self) -> frozenset[str]:
        return answered_ids(messages_of(self.state))

    def resume_value(self, outcome: Outcome) -> Json:
        """The value to resume with. Raises IntegrationError (see `format_answer`)."""
        return {self.interrupt_id: self.format_answer(outcome)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PerCallPause(ModelTurn):
    """The calls that still wait in per-call mode, in the model's order; each answer removes one."""

    @property
    def interrupt_ids(self) -> tuple[str, ...]:
        return tuple(interrupt["id"] for interrupt in self.wire)

    @property
    def next_call_id(self) -> str:
        """The id of the tool call that is answered next."""
        return self.wire[0]["value"]["tool_call_id"]

    def resume_value(self, outcome: Outcome, refusal: str | None = None) -> Json:
        """The value to resume with: only the next call's decision. With several answers, some tools could run
        before LangGraph finds that another answer is bad. `refusal`: why the tool can't take the decided
        arguments. Raises IntegrationError (see `format_answer`).
        """
        first = self.interrupt_ids[0]
        return {first: self.format_answer(outcome, refusal)[first]}

    def has_fewer_than(self, before: object) -> bool:
        return isinstance(before, PerCallPause) and set(self.interrupt_ids) < set(
            before.interrupt_ids
        )


def read_batch(
    interrupt: Interrupt, state: Mapping[str, Any], path: tuple[str, ...], failed: bool
) -> BatchPause | None:
    """The pause of this interrupt. None if it is not LangChain's, or if its requests are not calls of the
    last AI message.
    """
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
        pass  # it asks about calls that can't be reviewed: submitting it raises the error
    return batch


def read_per_call(
    interrupts: Sequence[Interrupt], state: Mapping[str, Any], path: tuple[str, ...]
) -> PerCallPause | None:
    """The pause of the interrupts about calls of the last AI message; None if there are none."""
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
    """Whether LangChain's middleware raised the interrupt, not another node. `node`: "" if unknown."""
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
    """The value as LangChain's ToolApprovalRequest; None if it is something else."""
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


def read_reason(message: AIMessage) -> str | None:
    """The text of the message, cut at MAX_REASON characters; None if there is none. If the content is a list
    of blocks, those with reasoning are left out: they are no text for people
    (docs.langchain.com/oss/python/langchain/messages).
    """
    text = ""
    for part in _texts(message.content):
        text += part[: MAX_REASON + 1]
        if len(text) > MAX_REASON:
            text = text[: MAX_REASON - len(_CUT)] + _CUT
            break
    return storable_text(text).strip() or None


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in cast("list[Any]", content):
        if isinstance(block, str):
            yield block
        elif isinstance(block, dict) and cast("dict[str, Any]", block).get("type") == "text":
            text = cast("dict[str, Any]", block).get("text")
            if isinstance(text, str):
                yield text
