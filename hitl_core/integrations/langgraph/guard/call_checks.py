"""Checks one call against its review and its tool. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.gate import AGAIN, Answer
from hitl_core.integrations.langgraph.arguments import args_problem, removal_problem
from hitl_core.model import Call, JsonObject, Review, encode


def find_call(review: Review, call_id: str) -> Call:
    for call in review.calls:
        if call.tool_call_id == call_id:
            return call
    raise Refused("not_allowed", "it is not in the review of this turn.")


def find_answer(answers: Iterable[Answer], call: Call) -> Answer | None:
    return next((each for each in answers if each.tool_call_id == call.tool_call_id), None)


def is_paused(review: Review, call: Call) -> bool:
    run = review.runs.get(call.key)
    return run is not None and run.state == "paused"


def check_tool(request: ToolCallRequest) -> None:
    """Raises Refused if another tool would run than the one that the call names: a middleware can change
    that, and the decision was about the named tool.
    """
    tool, name = request.tool, request.tool_call["name"]
    if tool is not None and tool.name != name:
        raise Refused("args_changed", f"the call names `{name}`, and another tool would run.")


def check_args(request: ToolCallRequest, before: JsonObject | None = None) -> None:
    """Raises InvalidToolCall for arguments that the tool doesn't accept: LangChain drops or replaces them, so
    the tool would not run as decided. `before`: those before an edit, which may have removed some.
    """
    tools, args = [request.tool] if request.tool is not None else [], request.tool_call["args"]
    if problem := args_problem(tools, args):
        raise InvalidToolCall(f"{problem} {AGAIN}")
    if problem := removal_problem(tools, before or {}, args):
        raise InvalidToolCall(problem)


def check_same(review: Review, call: Call, request: ToolCallRequest) -> None:
    """Raises Refused unless the call is as it was decided, or, if nobody was asked, as the model wrote it."""
    mine = (review.tool_name(call), review.arguments(call.key))
    if mine != (request.tool_call["name"], encode(request.tool_call["args"])):
        raise Refused("args_changed", "it is not the call that the review allowed.")
    check_args(request)
