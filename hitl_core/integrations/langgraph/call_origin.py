"""Where a tool call comes from."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.integrations.langgraph.graph import Json, last_ai_message, messages_of
from hitl_core.integrations.langgraph.thread import CLAIM


class CallOrigin(NamedTuple):
    """The thread, LangGraph's task in it, the claim that drives it, and the AI
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
