"""Finds lost pauses: an agent inside a tool or a node paused, but nobody is asked, because the code around it
caught the pause and continued, or because the graph has no checkpointer (`Start`).

LangChain tells its callbacks how each run ends, and which run is inside which. A pause is a GraphInterrupt
that goes up through all runs around it to the driven graph, which saves it. If one of these runs ends in
another way, the pause is lost.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator, Mapping
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple, NoReturn, cast
from uuid import UUID

from langchain_core.callbacks import manager as langchain_callbacks
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphInterrupt
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.graph import SAVER, SCRATCHPAD, Json

log = logging.getLogger(__name__)


class PauseLost(IntegrationError):
    """An agent inside a tool or a node paused, and nobody was asked. The call that it wanted did not run."""


def lost_pause_text(name: str, around: str) -> str:
    return (
        f"`{around}` caught the pause of `{name}`, so nobody was asked, and its call did not run. Where you"
        " catch or retry exceptions, let this one through (`except GraphBubbleUp: raise`, from"
        " langgraph.errors), and run the agent in the same context, without a thread_id of its own."
    )


def unsaved_pause_text(name: str) -> str:
    return (
        f"`{name}` paused, and no checkpointer saved the pause, so nobody was asked, and its call did not"
        " run. If it is a part of a driven agent, run it in the same context, not in its own thread or task."
        " Otherwise give it a checkpointer and a thread_id."
    )


class _Run(NamedTuple):
    parent: UUID | None
    name: str


class LostPauses:
    """The lost pauses of one driven run."""

    def __init__(self) -> None:
        self._errors: list[PauseLost] = []
        self._root: UUID | None = None
        self._runs: dict[UUID, _Run] = {}
        self._open: set[UUID] = set()
        #: The name of a run that paused, by the id of the run around it.
        self._paused: dict[UUID, str] = {}
        #: The name of a run that paused and whose outer run LangChain doesn't know, by the interrupt's id.
        self._detached: dict[str, str] = {}
        self._saved: set[str] = set()

    def begin(self, run_id: UUID, parent: UUID | None, name: str) -> None:
        self._root = self._root or run_id
        self._runs[run_id] = _Run(parent, name)
        self._open.add(run_id)

    def end(self, run_id: UUID, error: BaseException | None = None) -> str | None:
        """Record the end of a run. Returns an error text if this run lost a pause."""
        self._open.discard(run_id)
        run, inner = self._runs.get(run_id), self._paused.pop(run_id, None)
        if run is None or run_id == self._root:
            return None
        if isinstance(error, GraphInterrupt):
            self._go_up(run, error)
        elif inner is not None:
            return lost_pause_text(inner, run.name)
        return None

    def add(self, error: PauseLost) -> None:
        self._errors.append(error)

    def _go_up(self, run: _Run, pause: GraphInterrupt) -> None:
        ids = [interrupt.id for interrupt in (pause.args[0] if pause.args else ())]
        if run.parent is None or run.parent not in self._runs:
            self._detached.update(dict.fromkeys(ids, run.name))
        elif run.parent in self._open:
            # If it is closed, it has paused itself, at another interrupt.
            self._paused[run.parent] = run.name
            if run.parent == self._root:
                self._saved.update(ids)

    @property
    def errors(self) -> list[PauseLost]:
        """Complete when the driven run has ended."""
        detached = {name for id, name in self._detached.items() if id not in self._saved}
        texts = [lost_pause_text(name, "its caller") for name in sorted(detached)]
        return [*self._errors, *map(PauseLost, texts)]


_run_pauses: ContextVar[LostPauses | None] = ContextVar("hitl_pauses", default=None)


@contextlib.contextmanager
def hold_pauses() -> Generator[LostPauses, None, None]:
    """Use it around a driven run. Raises PauseLost at its end if it continued after a pause was lost."""
    pauses = LostPauses()
    token = _run_pauses.set(pauses)
    try:
        yield pauses
    finally:
        _run_pauses.reset(token)
    if errors := pauses.errors:
        raise errors[0]


def raise_pause_lost(error: PauseLost) -> NoReturn:
    """Raise it now, and again at the end of the driven run, in case other code catches it."""
    if pauses := _run_pauses.get():
        pauses.add(error)
    log.error("%s", error)
    raise error


class StartedGraph(NamedTuple):
    """A graph that starts. `is_unsaved`: no checkpointer saves its pauses, neither its own, nor one that the
    graph around it or the caller passes on; `task`: stands for LangGraph's task that starts it, if any.
    """

    is_unsaved: bool
    task: object


class Start(NamedTuple):
    """What starts when a callback reports it: the part of a graph, and its config."""

    part: object
    config: Json

    @property
    def graph(self) -> StartedGraph | None:
        """None if it is not a graph."""
        if not isinstance(self.part, Pregel):
            return None
        handed_over = self.config.get("configurable", {})
        saver = handed_over.get(SAVER, cast(Any, self).part.checkpointer)
        pad = handed_over.get(SCRATCHPAD)
        is_unsaved = not isinstance(saver, BaseCheckpointSaver)
        return StartedGraph(is_unsaved, pad and pad.subgraph_counter)


def read_start(callback: FrameType) -> Start:
    """The start that this callback reports.

    LangGraph tells its callbacks only the thread, which a graph without a checkpointer may have too. A copy
    of a graph keeps its callbacks and may have another checkpointer. So the caller's frame is read.
    """
    caller = callback.f_back
    while caller is not None and caller.f_globals.get("__name__") == langchain_callbacks.__name__:
        caller = caller.f_back
    values = cast("Mapping[str, Any]", caller.f_locals if caller is not None else {})
    config = values.get("config")
    return Start(values.get("self"), cast(Json, config) if isinstance(config, dict) else {})
