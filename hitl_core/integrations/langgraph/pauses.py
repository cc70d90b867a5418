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
    """`known` are ours to answer; `unknown` are left alone."""

    known: tuple[Pause, ...]
    unknown: tuple[Interrupt, ...]

    def of(self, turn: str) -> Pause | None:
        return next((pause for pause in self.known if pause.turn == turn), None)


def read_pauses(state: StateSnapshot) -> Pauses:
    """The state must hold its subgraphs' states: an agent may be a node of another graph."""
    known: list[Pause] = []
    unknown: list[Interrupt] = []
    for interrupt, messages, poisoned in _interrupts(state):
        pause = read_batch(interrupt, messages, poisoned) or read_inbox(interrupt, poisoned)
        if pause is None:
            unknown.append(interrupt)
        else:
            known.append(pause)
    return Pauses(tuple(known), tuple(unknown))


def unfinished(state: StateSnapshot) -> bool:
    """Whether a process died, or something raised, in the middle of a step."""
    return any(not task.interrupts and task.result is None for task in state.tasks)


def _interrupts(state: StateSnapshot) -> Iterator[tuple[Interrupt, Sequence[AnyMessage], bool]]:
    """Each with the messages of the graph that raised it, and whether its task failed as well."""
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot) and task.state.interrupts:
            yield from _interrupts(task.state)
            continue
        messages = messages_of(state.values)
        for interrupt in task.interrupts:
            yield interrupt, messages, task.error is not None
