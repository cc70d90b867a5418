"""How far the tasks of a thread's saved step got. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.types import Interrupt, PregelTask, StateSnapshot

from hitl_core.dialects import is_interrupt
from hitl_core.integrations.langgraph.pauses.model_turn import (
    is_from_langchain,
    looks_like_langchain,
)
from hitl_core.integrations.langgraph.pauses.nested import ToolAgentState


def is_unfinished(state: StateSnapshot) -> bool:
    """Whether a task of this step has neither ended nor paused: it runs, its process died, or it raised. Then
    more questions may follow.
    """
    return is_stalled(state) or any(_is_task_unfinished(task) for task in state.tasks)


def has_failed(state: StateSnapshot) -> bool:
    """Whether all that is unfinished in this step has raised. Only a process that tries again runs it."""
    unfinished = [task for task in state.tasks if _is_task_unfinished(task)]
    return bool(unfinished) and all(task.error is not None for task in unfinished)


def is_stalled(state: StateSnapshot) -> bool:
    """Whether all tasks of this step have ended and no next step began: a process died there, or two
    processes ran the step at once. LangGraph names no next node then, as if the run had ended.
    """
    inner = [
        state_inside for task in state.tasks if (state_inside := inner_state(task)) is not None
    ]
    ended = bool(state.tasks) and all(task.result is not None for task in state.tasks)
    return ended or any(is_stalled(each) for each in inner)


def open_interrupts(
    state: StateSnapshot, answers: Mapping[str, Any]
) -> dict[str, tuple[Interrupt, ...]]:
    """The interrupts that none of these answers is for, by task."""
    interrupts: dict[str, tuple[Interrupt, ...]] = {}
    for task in state.tasks:
        inner = inner_state(task)
        if inner is not None and not isinstance(inner, ToolAgentState):
            interrupts |= open_interrupts(inner, answers)
        elif not _is_task_unfinished(task) and not any(i.id in answers for i in task.interrupts):
            interrupts[task.id] = task.interrupts
    return interrupts


def answered_interrupts(
    state: StateSnapshot, answers: Mapping[str, Any] | None
) -> dict[str, frozenset[str]]:
    """The ids of the interrupts that are answered here, by task: its own, and those of a graph that it runs.
    None answers all.
    """
    answered: dict[str, frozenset[str]] = {}
    for task in state.tasks:
        inner = inner_state(task)
        within = {} if inner is None else answered_interrupts(inner, answers)
        own = {each.id for each in task.interrupts if answers is None or each.id in answers}
        if ids := own.union(*within.values()):
            answered |= {**within, task.id: frozenset(ids)}
    return answered


def saved_questions(state: StateSnapshot) -> dict[str, Interrupt]:
    """What the nodes and tools of this step ask themselves, or asked and have an answer for, by id. Not what
    LangChain asks about calls, which the guard compares with what people decided.
    """
    questions: dict[str, Interrupt] = {}
    for task in state.tasks:
        if (inner := inner_state(task)) is not None:
            questions |= saved_questions(inner)
            continue
        for each in task.interrupts:
            if is_interrupt(each.value) and not is_from_langchain(each, task.name, state.values):
                questions[each.id] = each
    return questions


def _is_task_unfinished(task: PregelTask) -> bool:
    if task.result is not None:
        return False
    # A task that runs a graph keeps the graph's earlier interrupts, also while the graph runs and afterwards.
    if (inner := inner_state(task)) is not None:
        return is_unfinished(inner)
    stale = isinstance(task.state, ToolAgentState) and any(
        looks_like_langchain(i) for i in task.interrupts
    )
    return stale or not task.interrupts


def inner_state(task: PregelTask) -> StateSnapshot | None:
    """The state of the graph that this task is or runs, until that graph ends."""
    if not isinstance(task.state, StateSnapshot) or task.result is not None:
        return None
    return task.state if task.state.next or task.state.tasks else None
