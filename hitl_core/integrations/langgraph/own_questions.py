"""Questions that get lost in the call that asks them: a tool, or a middleware around it, calls `interrupt()`
and catches what that raises (`except Exception`). Then nobody is asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.integrations.langgraph.graph import Json
from hitl_core.integrations.langgraph.lost_pauses import sentence
from hitl_core.integrations.langgraph.watch import lose

#: Where LangGraph counts the interrupts of a task, and keeps their answers.
_SCRATCHPAD = "__pregel_scratchpad"

_numbers: ContextVar[list[int] | None] = ContextVar("hitl_interrupts", default=None)


class _Counter:
    """LangGraph's, which also tells the call that asks."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def __call__(self) -> int:
        number, numbers = self._count(), _numbers.get()
        if numbers is not None:
            numbers.append(number)
        return number


def _counted(config: Json, known: Any = None) -> Any:
    """The scratchpad of this config, with our counter in it: `known` where that one has the same answers."""
    configurable = cast(Json, config.get("configurable") or {})
    pad: Any = configurable.get(_SCRATCHPAD)
    if pad is None or isinstance(pad.interrupt_counter, _Counter):
        return pad or known
    if known is None or known.resume is not pad.resume:
        known = replace(pad, interrupt_counter=_Counter(pad.interrupt_counter))
    configurable[_SCRATCHPAD] = known
    return known


@contextlib.contextmanager
def questions_of(request: ToolCallRequest) -> Generator[None, None, None]:
    """Around a call. Raises PauseLost where it ends as usual, and a question of its own has no answer."""
    around: Any = var_child_runnable_config.get() or {}
    pad = _counted(around, _counted(cast(Any, request).runtime.config))
    numbers: list[int] = []
    token = _numbers.set(numbers)
    try:
        yield
    finally:
        _numbers.reset(token)
    if pad is not None and any(number >= len(pad.resume) for number in numbers):
        name = request.tool_call["name"]
        lose(sentence(f"interrupt() in {name}", f"{name}, or a middleware around it"))
