"""The calls of one review, by their ids: what an application says about a call is checked here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.model import Call, Review, ToolCall


class KnownCalls:
    """Finds a call by its id, or by the ToolCall from `execute`."""

    def __init__(self, review: Review) -> None:
        self._calls = {call.tool_call_id: call for call in review.calls}

    def find(self, call_id: str) -> Call:
        """Raises Refused for an id that is no call of this review."""
        if (found := self._calls.get(call_id)) is None:
            ids = ", ".join(map(repr, self._calls))
            raise Refused("unknown_call", f"This review has no call {call_id!r:.80}; it has {ids}.")
        return found

    def find_call(self, call: object) -> Call:
        """Raises InvalidToolCall for anything but a ToolCall, and Refused for one of another review."""
        return self.find(check_call(call).id)

    def results_by_call(self, results: object) -> list[tuple[Call, object]]:
        """Raises InvalidToolCall for anything but results by tool call id, and Refused for an unknown id."""
        if not isinstance(results, Mapping):
            raise InvalidToolCall(
                f"The results must be a dict with each call's result by its id, not {results!r:.80}."
            )
        return [
            (self.find(id), result) for id, result in cast("Mapping[str, object]", results).items()
        ]


def check_call(call: object) -> ToolCall:
    """Raises InvalidToolCall for anything else."""
    if not isinstance(call, ToolCall):
        raise InvalidToolCall(f"Pass a call as it is in `execute`, not {call!r:.80}.")
    return call
