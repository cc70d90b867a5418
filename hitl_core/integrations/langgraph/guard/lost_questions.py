"""Finds questions that get lost inside the call that asks them: a tool, or a middleware around it, calls
`interrupt()` and catches its exception (`except Exception`), so nobody is asked.
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
from hitl_core.integrations.langgraph.guard.lost_pauses import lost_pause_text
from hitl_core.integrations.langgraph.guard.watch import raise_pause_lost

#: The config key under which LangGraph counts the interrupts of a task and keeps their answers.
_SCRATCHPAD = "__pregel_scratchpad"

_numbers: ContextVar[list[int] | None] = ContextVar("hitl_interrupts", default=None)


class _Counter:
    """LangGraph's counter, which also notes the number for the current call."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def __call__(self) -> int:
        number, numbers = self._count(), _numbers.get()
        if numbers is not None:
            numbers.append(number)
        return number


def _add_counter(config: Json, known: Any = None) -> Any:
    """Put our counter into this config's scratchpad, and return the scratchpad. `known`: a scratchpad that
    already has our counter; it is used if it has the same answers.
    """
    configurable = cast(Json, config.get("configurable") or {})
    pad: Any = configurable.get(_SCRATCHPAD)
    if pad is None or isinstance(pad.interrupt_counter, _Counter):
        return pad or known
    if known is None or known.resume is not pad.resume:
        known = replace(pad, interrupt_counter=_Counter(pad.interrupt_counter))
    configurable[_SCRATCHPAD] = known
    return known


@contextlib.contextmanager
def check_questions(request: ToolCallRequest) -> Generator[None, None, None]:
    """Use it around a call. Raises PauseLost if the call returns while its own question has no answer."""
    around: Any = var_child_runnable_config.get() or {}
    pad = _add_counter(around, _add_counter(cast(Any, request).runtime.config))
    numbers: list[int] = []
    token = _numbers.set(numbers)
    try:
        yield
    finally:
        _numbers.reset(token)
    if pad is not None and any(number >= len(pad.resume) for number in numbers):
        name = request.tool_call["name"]
        around_name = f"{name}, or a middleware around it"
        raise_pause_lost(lost_pause_text(f"interrupt() in {name}", around_name))
