"""Reads the pauses of a thread from its saved state (never from a streamed chunk). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

from langgraph.types import Interrupt, PregelTask, StateSnapshot

from hitl_core.integrations.langgraph.graph import (
    Json,
    answered_ids,
    interrupt_id,
    last_ai_message,
    messages_of,
)
from hitl_core.integrations.langgraph.pauses.calls_around import (
    CallsAround,
    OpenCalls,
    UnknownCalls,
)
from hitl_core.integrations.langgraph.pauses.model_turn import (
    BatchPause,
    PerCallPause,
    is_from_langchain,
    looks_like_langchain,
    read_batch,
    read_per_call,
)
from hitl_core.integrations.langgraph.pauses.nested import SEPARATOR, ToolAgentState
from hitl_core.integrations.langgraph.pauses.pause import QuestionPause, read_question
from hitl_core.integrations.langgraph.pauses.task_states import inner_state

AnyPause = BatchPause | PerCallPause | QuestionPause

#: The most questions in LangChain's format that one task may ask, one after the other.
MAX_ANSWERS = 100


class Pauses(NamedTuple):
    """`known`: the pauses that we answer. `unknown`: interrupts that we don't answer; `failed`: those of them
    that got our answer and raised, and LangGraph keeps that answer. `errors`: why nobody can be asked a
    question of LangChain about a tool call.
    """

    known: tuple[AnyPause, ...]
    unknown: tuple[Interrupt, ...]
    failed: tuple[QuestionPause, ...]
    errors: tuple[str, ...]

    @property
    def waiting(self) -> list[Interrupt]:
        """The unknown interrupts that got no answer of ours."""
        answered = {pause.turn for pause in self.failed}
        return [interrupt for interrupt in self.unknown if interrupt.id not in answered]

    def find(self, turn: str) -> AnyPause | None:
        return next((pause for pause in (*self.known, *self.failed) if pause.turn == turn), None)


def read_pauses(state: StateSnapshot) -> Pauses:
    """The state must have those of its subgraphs: an agent may be a node, or a tool, of another graph."""
    known: list[AnyPause] = []
    unknown: list[Interrupt] = []
    failed: list[QuestionPause] = []
    errors: list[str] = []
    for level in _levels(state):
        per_call = _read_per_call(level)
        per_call_ids = per_call.interrupt_ids if per_call else ()
        if per_call is not None:
            known.append(per_call)
        for task in level.tasks:
            for interrupt in task.interrupts:
                if interrupt.id in per_call_ids:
                    continue
                pause = _read_pause(interrupt, task, level)
                if isinstance(pause, QuestionPause) and pause.failed:
                    failed.append(pause)
                elif pause is not None:
                    known.append(pause)
                    continue
                elif _is_unanswerable(interrupt, task, level):
                    errors.append(_error_text(level))
                unknown.append(interrupt)
    return Pauses(tuple(known), tuple(unknown), tuple(failed), tuple(errors))


class _GraphLevel(NamedTuple):
    """The driven graph, or one inside it. `tasks`: without those that are graphs themselves. `open_calls`: of
    its last AI message; `around`: those of the graphs around it, the innermost first.
    """

    values: Json
    path: tuple[str, ...]
    open_calls: tuple[OpenCalls, ...]
    around: tuple[CallsAround, ...]
    tasks: list[PregelTask]
    in_tool: bool
    namespace: str

    @property
    def values_and_path(self) -> tuple[Json, tuple[str, ...]]:
        return self.values, self.path


def _levels(
    state: StateSnapshot, path: tuple[str, ...] = (), around: tuple[CallsAround, ...] = ()
) -> Iterator[_GraphLevel]:
    own: list[PregelTask] = []
    values: Any = state.values
    plain = cast(Json, values) if isinstance(values, dict) else {}
    open_calls = tuple(_find_open_calls(plain, path))
    for task in state.tasks:
        if (inner := inner_state(task)) is not None:
            name = _agent_name(task, inner, state)
            yield from _levels(inner, (*path, name), (*_calls_of(task, open_calls), *around))
        else:
            own.append(task)
    namespace = str(state.config.get("configurable", {}).get("checkpoint_ns", ""))
    in_tool = isinstance(state, ToolAgentState)
    yield _GraphLevel(plain, path, open_calls, around, own, in_tool, namespace)


def _find_open_calls(values: Json, path: tuple[str, ...]) -> Iterator[OpenCalls]:
    """The calls of the last AI message, if some have no answer: one of these tools may be asking."""
    messages = messages_of(values)
    message = last_ai_message(messages)
    answered = answered_ids(messages)
    if message is not None and any(call["id"] not in answered for call in message.tool_calls):
        yield OpenCalls(message, answered, path, values)


def _calls_of(task: PregelTask, open_calls: tuple[OpenCalls, ...]) -> tuple[CallsAround, ...]:
    """The calls that this task may be running."""
    return open_calls or (UnknownCalls(task.name),)


def _read_per_call(level: _GraphLevel) -> PerCallPause | None:
    interrupts = [interrupt for task in level.tasks for interrupt in task.interrupts]
    pause = read_per_call(interrupts, *level.values_and_path)
    return pause and replace(pause, around=level.around)


def _read_pause(
    interrupt: Interrupt, task: PregelTask, level: _GraphLevel
) -> BatchPause | QuestionPause | None:
    """The pause of this interrupt; None if we don't answer it. One case is a graph in a tool that asks a
    question itself: after a crash it would continue from its own state, and would not get the answer.
    """
    failed = task.error is not None
    if is_from_langchain(interrupt, task.name, level.values):
        batch = read_batch(interrupt, *level.values_and_path, failed)
        return batch and replace(batch, around=level.around)
    if level.in_tool and not level.open_calls:
        return None
    if _is_unanswerable(interrupt, task, level):
        return None
    around = (*_calls_of(task, level.open_calls), *level.around)
    return read_question(interrupt, *level.values_and_path, failed, around)


def _is_unanswerable(interrupt: Interrupt, task: PregelTask, level: _GraphLevel) -> bool:
    """Whether it has LangChain's format, but its AI message can't be found. Either LangChain's middleware
    raised it, or an agent at a place where agents can't be found. LangGraph derives an interrupt's id from
    the place that raised it, so `_is_raised_by` can tell.
    """
    if is_from_langchain(interrupt, task.name, level.values):
        return True
    if not looks_like_langchain(interrupt) or not task.name:
        return False
    task_path = SEPARATOR.join(filter(None, (level.namespace, f"{task.name}:{task.id}")))
    return not _is_raised_by(interrupt, task_path)


def _is_raised_by(interrupt: Interrupt, task_path: str) -> bool:
    """Whether this task raised it itself, as its first interrupt or a later one."""
    return any(interrupt.id == interrupt_id(task_path, number) for number in range(MAX_ANSWERS))


def _error_text(level: _GraphLevel) -> str:
    where = " > ".join(level.path) or "the agent"
    return (
        f"{where} is paused by a question of LangChain about a tool call, and nobody can be asked: the"
        " question is not about calls of the last AI message. Perhaps a middleware before"
        " HumanInTheLoopMiddleware changes them. Or a function (an @task) runs the agent: run it in a node or"
        " a tool."
    )


def _agent_name(task: PregelTask, inner: StateSnapshot, outer: StateSnapshot) -> str:
    """The agent's own name, from LangChain's metadata, which has the caller's name if the agent has none."""
    names = [cast(Json, state.metadata or {}).get("lc_agent_name") for state in (inner, outer)]
    return names[0] if names[0] and names[0] != names[1] else task.name or "tools"
