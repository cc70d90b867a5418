"""The spans of an outcome's tools, from `once` to `report` or `finish`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from hitl_core import telemetry
from hitl_core.model import Review, ToolCall
from hitl_core.review import CallResult


class ToolSpans:
    """The open spans, by tool call id. Without OpenTelemetry it does nothing."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._open: dict[str, Any] = {}

    def start(self, call: ToolCall) -> None:
        attributes = {
            **telemetry.review_attributes(self._review),
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
        }
        name, parent = f"execute_tool {call.name}", self._review.trace
        started = telemetry.start_span(name, attributes, parent=parent)
        if started is not None:
            self._open[call.id] = started

    def use(self, call: ToolCall) -> AbstractContextManager[None]:
        return telemetry.use_span(self._open.get(call.id))

    def end(self, results: Mapping[str, object]) -> None:
        """End the spans of the calls that have a result. Of an error only the type is recorded, because its
        text may contain arguments.
        """
        for call_id in self._open.keys() & results.keys():
            result = results[call_id]
            failed = isinstance(result, CallResult) and result.kind == "failure"
            telemetry.end_span(self._open.pop(call_id), "tool_error" if failed else None)

    def end_all(self) -> None:
        for call_id in list(self._open):
            telemetry.end_span(self._open.pop(call_id))
