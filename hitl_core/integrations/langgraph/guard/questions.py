"""Questions that a node or a tool asks itself (`interrupt()`).

LangGraph runs a node again with the answer, and knows its questions only by their order. So it would give the
answer to a question that has changed since. And a question is lost if a tool, or a middleware around it,
catches the exception of `interrupt()` (`except Exception`).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Interrupt

from hitl_core.integrations.langgraph.graph import SCRATCHPAD, Json, interrupt_id
from hitl_core.integrations.langgraph.guard.lost_pauses import (
    PauseLost,
    lost_pause_text,
    raise_pause_lost,
)
from hitl_core.integrations.langgraph.guard.task_pauses import (
    SEVERAL_CALLS,
    RunningCall,
    TaskCalls,
    running_call,
)


@dataclass(slots=True)
class Questions:
    """The questions that people know, by the ids of their interrupts; by task those of them that were asked
    again in this run, and got their answers; and the tasks that asked another question in this run.
    """

    known: dict[str, Interrupt] = field(default_factory=dict[str, Interrupt])
    answered: dict[str, list[Interrupt]] = field(default_factory=dict[str, list[Interrupt]])
    changed: set[str] = field(default_factory=set[str])


class QuestionChanged(PauseLost):
    """A node or a tool asks another question than the one that people answered. It did not get the answer."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"`{name}` asks another question now than the one that people answered, so it did not get the"
            " answer. LangGraph starts a node or a tool again when the answer is there: ask the same"
            " questions again, in the same order."
        )


class _Counter:
    """LangGraph's counter of a task's questions, which also checks them. `interrupt` calls it without the
    question, so that is read from its frame.
    """

    def __init__(self, pad: Any, questions: Questions) -> None:
        self._count, self._questions = pad.interrupt_counter, questions
        self._answers = len(pad.resume) + (pad.get_null_resume(False) is not None)

    def __call__(self) -> int:
        number = self._count()
        values = sys._getframe(1).f_locals  # pyright: ignore[reportPrivateUsage]
        question, namespace = values["value"], values["conf"]["checkpoint_ns"]
        known = self._questions.known.get(interrupt_id(namespace, number))
        changed = known if known and _as_saved(question) != _as_saved(known.value) else None
        call, name = running_call.get(), namespace.rpartition("|")[2].partition(":")[0]
        if call is not None and call.counter is self:
            call.numbers.append(number)
            call.task.asking.add(call.id)
            name = call.tool
            if len(call.task.started) > 1 and (number > 0 or changed or call.task.is_mixed):
                raise_pause_lost(PauseLost(SEVERAL_CALLS))
        if number < self._answers and (changed or namespace in self._questions.changed):
            self._questions.changed.add(namespace)  # a RetryPolicy may start the task again
            raise_pause_lost(QuestionChanged(name))
        if changed:  # LangGraph would save a question that people don't see
            raise GraphInterrupt((changed,))
        if known and number < self._answers:
            task = namespace.rpartition(":")[2]
            self._questions.answered.setdefault(task, []).append(known)
        return number


def _as_saved(question: Any) -> Any:
    """LangGraph saves a tuple as a list."""
    if isinstance(question, dict):
        items = cast(dict[Any, Any], question).items()
        return {key: _as_saved(value) for key, value in items}
    if isinstance(question, list | tuple):
        return [_as_saved(each) for each in cast(list[Any], question)]
    return question


def check_questions(config: Json, questions: Questions) -> None:
    """Let our counter check the questions of the task with this config."""
    configurable = cast(Json, config.get("configurable") or {})
    pad: Any = configurable.get(SCRATCHPAD)
    if pad is not None and not isinstance(pad.interrupt_counter, _Counter):
        configurable[SCRATCHPAD] = replace(pad, interrupt_counter=_Counter(pad, questions))


@contextlib.contextmanager
def hold_call(request: ToolCallRequest, task: TaskCalls) -> Generator[None, None, None]:
    """Use it around a call. Raises PauseLost if the call returns while its own question has no answer, and in
    the call if its question could get the answer to that of another call.
    """
    around: Any = var_child_runnable_config.get() or {}
    pad = around.get("configurable", {}).get(SCRATCHPAD)
    counter = pad and pad.interrupt_counter
    id, tool = str(request.tool_call["id"]), request.tool_call["name"]
    call = RunningCall(id, tool, task, counter, [])
    token = running_call.set(call)
    try:
        yield
    except GraphInterrupt:
        task.has_paused = True
        raise
    finally:
        running_call.reset(token)
    if any(number >= len(pad.resume) for number in call.numbers):
        around_name = f"{tool}, or a middleware around it"
        raise_pause_lost(PauseLost(lost_pause_text(f"interrupt() in {tool}", around_name)))
