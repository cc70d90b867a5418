"""What a thread waits at, read from its saved state (never from a streamed chunk). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from langchain_core.messages import AnyMessage
from langgraph.types import Interrupt, StateSnapshot

from hitl_core.integrations.langgraph.batch import Batch, read_batch
from hitl_core.integrations.langgraph.graph import messages_of
from hitl_core.integrations.langgraph.inbox import Inbox, read_inbox

Pause = Batch | Inbox


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
    for interrupt, messages, error in _interrupts(state):
        pause = read_batch(interrupt, messages, poisoned=error) or read_inbox(interrupt)
        if isinstance(pause, Inbox) and error:
            failed.append(pause)
        elif pause is not None:
            known.append(pause)
            continue
        unknown.append(interrupt)
    return Pauses(tuple(known), tuple(unknown), tuple(failed))


def unfinished(state: StateSnapshot) -> bool:
    """Whether a process died, or something raised, in the middle of a step."""
    return any(not task.interrupts and task.result is None for task in state.tasks)


def _interrupts(state: StateSnapshot) -> Iterator[tuple[Interrupt, Sequence[AnyMessage], bool]]:
    """Each with the messages of the graph that raised it, and whether its task raised an error as
    well."""
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot) and task.state.interrupts:
            yield from _interrupts(task.state)
            continue
        messages = messages_of(state.values)
        for interrupt in task.interrupts:
            yield interrupt, messages, task.error is not None
