"""What a thread waits at, read from its saved state (never from a streamed chunk). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from langchain_core.messages import AnyMessage
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from hitl_core.integrations.langgraph.batch import Batch, read_batch
from hitl_core.integrations.langgraph.graph import messages_of
from hitl_core.integrations.langgraph.inbox import Inbox, read_inbox
from hitl_core.integrations.langgraph.per_call import PerCall, read_per_call

Pause = Batch | PerCall | Inbox


class Pauses(NamedTuple):
    """`known` are ours to answer, `unknown` are left alone. `failed` are those of the unknown ones
    whose node had our answer and raised: LangGraph keeps that answer."""

    known: tuple[Pause, ...]
    unknown: tuple[Interrupt, ...]
    failed: tuple[Inbox, ...]

    def of(self, turn: str) -> Pause | None:
        return next((pause for pause in (*self.known, *self.failed) if pause.turn == turn), None)


def read_pauses(state: StateSnapshot) -> Pauses:
    """The state must hold its subgraphs' states: an agent may be a node of another graph."""
    known: list[Pause] = []
    unknown: list[Interrupt] = []
    failed: list[Inbox] = []
    for messages, raised in _graphs(state):
        per_call = read_per_call([one.interrupt for one in raised], messages)
        if per_call is not None:
            known.append(per_call)
        for interrupt, error in raised:
            if per_call is not None and interrupt.id in per_call.interrupt_ids.values():
                continue
            pause = read_batch(interrupt, messages, poisoned=error) or read_inbox(interrupt)
            if isinstance(pause, Inbox) and error:
                failed.append(pause)
            elif pause is not None:
                known.append(pause)
                continue
            unknown.append(interrupt)
    return Pauses(tuple(known), tuple(unknown), tuple(failed))


def unfinished(state: StateSnapshot) -> bool:
    """Whether something in this step has neither ended nor paused: it runs, or a process died in it, or it
    raised. So not everything that will ask may have asked yet."""
    return any(_unfinished(task) for task in state.tasks)


def _unfinished(task: PregelTask) -> bool:
    if task.result is not None:
        return False
    # A node that is a graph keeps the interrupts of its earlier pauses while it runs on.
    inner = _inner(task)
    return not task.interrupts or (inner is not None and unfinished(inner))


class _Raised(NamedTuple):
    """An interrupt, and whether its task raised an error as well."""

    interrupt: Interrupt
    error: bool


def _graphs(state: StateSnapshot) -> Iterator[tuple[Sequence[AnyMessage], list[_Raised]]]:
    """The graph and those that run in it: each with its messages, and the interrupts of its own."""
    own: list[_Raised] = []
    for task in state.tasks:
        if (inner := _inner(task)) is not None:
            yield from _graphs(inner)
        else:
            own += [_Raised(interrupt, task.error is not None) for interrupt in task.interrupts]
    yield messages_of(state.values), own


def _inner(task: PregelTask) -> StateSnapshot | None:
    """The state of the graph that this task is, while that has not ended."""
    return task.state if isinstance(task.state, StateSnapshot) and task.state.next else None
