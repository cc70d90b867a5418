"""Pauses that code catches: an agent in a tool or a node asked, what ran it went on, and nobody is asked.

LangChain tells its callbacks how each run ends, and which run is in which. A pause goes up from run to run
as a GraphInterrupt, up to the driven graph, which saves it. Where a run around it ends otherwise, it is lost.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from langgraph.errors import GraphInterrupt

from hitl_core.errors import IntegrationError


class PauseLost(IntegrationError):
    """Nobody was asked about what an agent in a tool or a node wanted to run. It did not run."""


def sentence(name: str, around: str) -> str:
    return (
        f"The pause of `{name}` was swallowed by `{around}`, so nobody was asked, and the call that it is"
        " about did not run. Where an exception is caught or retried, let this one through (`except"
        " GraphBubbleUp: raise`, from langgraph.errors), and run the agent in the same context, without a"
        " thread_id of its own."
    )


def unsaved(name: str) -> str:
    return (
        f"`{name}` paused where no checkpointer saves it, so nobody was asked, and the call that it is"
        " about did not run. As a part of a driven agent, run it in the same context, in no thread or task of"
        " its own; else give it a checkpointer and a thread_id."
    )


class _Run(NamedTuple):
    parent: UUID | None
    name: str


class LostPauses:
    """Of one driven run."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._root: UUID | None = None
        self._runs: dict[UUID, _Run] = {}
        self._open: set[UUID] = set()
        #: By the run around: the name of one in it that paused.
        self._paused: dict[UUID, str] = {}
        #: By the interrupt's id: what paused, and LangChain doesn't know what is around it.
        self._apart: dict[str, str] = {}
        self._saved: set[str] = set()

    def begin(self, run_id: UUID, parent: UUID | None, name: str) -> None:
        self._root = self._root or run_id
        self._runs[run_id] = _Run(parent, name)
        self._open.add(run_id)

    def end(self, run_id: UUID, error: BaseException | None = None) -> str | None:
        """The sentence where this run swallowed a pause."""
        self._open.discard(run_id)
        run, inner = self._runs.get(run_id), self._paused.pop(run_id, None)
        if run is None or run_id == self._root:
            return None
        if isinstance(error, GraphInterrupt):
            self._go_up(run, error)
        elif inner is not None:
            self.add(why := sentence(inner, run.name))
            return why
        return None

    def add(self, why: str) -> None:
        if why not in self._sentences:
            self._sentences.append(why)

    def _go_up(self, run: _Run, pause: GraphInterrupt) -> None:
        ids = [interrupt.id for interrupt in (pause.args[0] if pause.args else ())]
        if run.parent is None or run.parent not in self._runs:
            self._apart.update(dict.fromkeys(ids, run.name))
        elif run.parent in self._open:  # else it has paused itself, at another one
            self._paused[run.parent] = run.name
            if run.parent == self._root:
                self._saved.update(ids)

    @property
    def sentences(self) -> list[str]:
        """One for each, at the end."""
        apart = {name for id, name in self._apart.items() if id not in self._saved}
        return [*self._sentences, *(sentence(name, "its caller") for name in sorted(apart))]
