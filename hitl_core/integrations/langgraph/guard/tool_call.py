"""A call in a tool node: its origin, the messages that answer it, and its line on the card. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, cast

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.guard.active_runs import CLAIM
from hitl_core.model import ToolCall, encode
from hitl_core.review import CallResult, text_of

Result: TypeAlias = ToolMessage | Command[Any]

#: The result line of a tool that returned no text.
RAN = CallResult.note("ran")


class CallOrigin(NamedTuple):
    """Where a call comes from: the thread, LangGraph's task in it, the claim that drives it, and the AI
    message (`turn`) with the ids of its calls.
    """

    thread_id: str
    task_id: str
    claim: str | None
    turn: str
    call_ids: list[str]

    @classmethod
    def from_request(cls, request: ToolCallRequest) -> CallOrigin:
        config = cast(Json, cast(Any, request).runtime.config).get("configurable", {})
        message = last_ai_message(messages_of(request.state))
        ids = [str(call["id"]) for call in message.tool_calls] if message else []
        turn = (message.id if message else None) or ""
        task_id = str(config.get("checkpoint_ns", "")).rpartition(":")[2]
        return cls(str(config.get("thread_id", "")), task_id, config.get(CLAIM), turn, ids)


def copy_request(request: ToolCallRequest) -> ToolCallRequest:
    """A copy, so that nobody can change the call between its check and its start. Raises InvalidToolCall for
    arguments that are not plain JSON.
    """
    args = encode(request.tool_call["args"]).parse()
    return request.override(tool_call={**request.tool_call, "args": args})


def to_tool_call(request: ToolCallRequest) -> ToolCall:
    return ToolCall.from_mapping(request.tool_call)


def answer_message(request: ToolCallRequest, content: str, status: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(
        content=content, name=call["name"], tool_call_id=str(call["id"]), status=cast(Any, status)
    )


def stop_message(request: ToolCallRequest, why: str) -> ToolMessage:
    """The message for a call that was stopped. Before the answer to an edited call, LangChain puts a note
    that the call ran; this text contradicts that note.
    """
    name = request.tool_call["name"]
    text = f"`{name}` was NOT executed, whatever a note before this says: {why}"
    return answer_message(request, text, "error")


def denial_message(request: ToolCallRequest, content: str) -> ToolMessage:
    """A model that misspells a tool's name can't use the policy's words on how to allow that tool."""
    if request.tool is None:
        name = request.tool_call["name"]
        content = (
            f"This agent has no tool `{name}`, so nothing was executed. Call one of its tools."
        )
    return answer_message(request, content, "error")


def error_message(request: ToolCallRequest, error: Exception) -> ToolMessage:
    return answer_message(request, f"{type(error).__name__}: {text_of(error)}", "error")


def call_result(result: Result, call_id: str) -> CallResult:
    """For the result line on the card."""
    message = result if isinstance(result, ToolMessage) else _find_message(result, call_id)
    if message is None:
        return RAN
    text = str(message.text).strip()
    if message.status == "error":
        return CallResult.failure(text or "ran")
    return CallResult.of(text) if text else RAN


def _find_message(command: Command[Any], call_id: str) -> ToolMessage | None:
    messages = messages_of(command.update)
    matches = (m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == call_id)
    return next(matches, None)
