"""Helpers of `Outcome.run`: find the functions, and make one answer for the model for each call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hitl_core.errors import InvalidToolCall
from hitl_core.gate.outcome.answers import Answer
from hitl_core.gate.outcome.tool import Tool, failure_text
from hitl_core.gate.outcome.transcript import add_edit_notice
from hitl_core.model import Review, ToolCall

#: The agent's functions, sync or async, by tool name.
ToolFunctions = Mapping[str, Callable[..., Any]]


def tools_for(calls: Iterable[ToolCall], tools: ToolFunctions) -> dict[str, Tool]:
    """The functions that these calls need. Raises InvalidToolCall for a tool without a function, and
    TypeError for a function that takes no named arguments.
    """
    needed = list(dict.fromkeys(call.name for call in calls))
    if missing := [name for name in needed if name not in tools]:
        raise InvalidToolCall(
            f"`run` got no function for {', '.join(missing)}: pass one under each tool's name."
            " Nothing was run."
        )
    return {name: Tool.from_function(tools[name], name) for name in needed}


def success(review: Review, call: ToolCall, result: object) -> Answer:
    """A string is used as it is, any other result as JSON. After an edit, the edit notice comes first."""
    if result is None:
        text = f"`{call.name}` ran."
    elif isinstance(result, str):
        text = result
    else:
        text = json.dumps(result, ensure_ascii=False, default=str)
    return Answer(call.id, call.name, add_edit_notice(review, call.id, text), "success")


def failure(call: ToolCall, error: Exception) -> Answer:
    return Answer(call.id, call.name, f"`{call.name}` failed: {failure_text(error)}", "error")


def already_started(call: ToolCall) -> Answer:
    """For a call for which `once` returned False: an earlier attempt started it."""
    text = f"`{call.name}` was started before. Whether it ran is not known. Do not retry it."
    return Answer(call.id, call.name, text, "error")


def order_answers(
    review: Review, known: Iterable[Answer], results: Iterable[Answer]
) -> tuple[Answer, ...]:
    """One answer for each call of the turn, in the model's order."""
    by_id = {answer.tool_call_id: answer for answer in (*known, *results)}
    return tuple(by_id[call.tool_call_id] for call in review.calls)
