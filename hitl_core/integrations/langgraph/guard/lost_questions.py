"""Finds questions of a call that nobody is asked, or that could get the answer to another one (see
`task_pauses`). A question is lost if a tool, or a middleware around it, calls `interrupt()` and catches
its exception (`except Exception`).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest

from hitl_core.integrations.langgraph.graph import SCRATCHPAD, Json, interrupt_id
from hitl_core.integrations.langgraph.guard.lost_pauses import lost_pause_text
from hitl_core.integrations.langgraph.guard.task_pauses import (
    RunningCall,
    TaskQuestions,
    running_call,
)
from hitl_core.integrations.langgraph.guard.watch import raise_pause_lost


class _Counter:
    """LangGraph's counter, which also notes the number for the current call. `interrupt` calls it without the
    question, so that is read from its frame.
    """

    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count

    def __call__(self) -> int:
        number, call = self._count(), running_call.get()
        if call is not None:
            call.numbers.append(number)
            call.task.asking.add(call.id)
            values = sys._getframe(1).f_locals  # pyright: ignore[reportPrivateUsage]
            id = interrupt_id(values["conf"]["checkpoint_ns"], number)
            if (why := call.task.problem(values.get("value"), number, id, call.tool)) is not None:
                raise_pause_lost(why)
        return number


def _add_counter(config: Json, known: Any = None) -> Any:
    """Put our counter into this config's scratchpad, and return the scratchpad. `known`: a scratchpad that
    already has our counter; it is used if it has the same answers.
    """
    configurable = cast(Json, config.get("configurable") or {})
    pad: Any = configurable.get(SCRATCHPAD)
    if pad is None or isinstance(pad.interrupt_counter, _Counter):
        return pad or known
    if known is None or known.resume is not pad.resume:
        known = replace(pad, interrupt_counter=_Counter(pad.interrupt_counter))
    configurable[SCRATCHPAD] = known
    return known


@contextlib.contextmanager
def check_questions(request: ToolCallRequest, task: TaskQuestions) -> Generator[None, None, None]:
    """Use it around a call. Raises PauseLost if the call returns while its own question has no answer, and in
    the call if its question could get the answer to another one.
    """
    around: Any = var_child_runnable_config.get() or {}
    pad = _add_counter(around, _add_counter(cast(Any, request).runtime.config))
    id, tool = str(request.tool_call["id"]), request.tool_call["name"]
    call = RunningCall(id, tool, task, [])
    token = running_call.set(call)
    try:
        yield
    except GraphInterrupt:
        task.has_paused = True
        raise
    finally:
        running_call.reset(token)
    if pad is not None and any(number >= len(pad.resume) for number in call.numbers):
        around_name = f"{tool}, or a middleware around it"
        raise_pause_lost(lost_pause_text(f"interrupt() in {tool}", around_name))
