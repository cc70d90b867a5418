"""What pauses in one task of LangGraph, which knows it only by its order: it counts the questions of a task,
and gives the answers in that order; it counts the graphs that a task runs, and gives them their saved states
in that order. If a task runs several calls or graphs at once, one could get what belongs to another one.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

SEVERAL_CALLS = (
    "Several calls run in one task, and LangGraph can't tell which of them asked, so an answer could reach"
    " another call. Send each call to its ToolNode alone, as create_agent does:"
    ' Send("tools", [call]).'
)


def _several_graphs_text(name: str) -> str:
    return (
        f"A tool or a node runs several agents at once, and `{name}` paused. LangGraph can't tell which of"
        " them asked, so nobody was asked. Run them one after the other, or each in a tool call or a node of"
        " its own."
    )


@dataclass(slots=True)
class TaskCalls:
    """`started`: the ids of the task's calls that started; `asking`: those that asked, or ran a graph, which
    may ask; `has_paused`: one of them paused.
    """

    started: set[str] = field(default_factory=set[str])
    asking: set[str] = field(default_factory=set[str])
    has_paused: bool = False

    @property
    def is_mixed(self) -> bool:
        """Whether several calls may be asking."""
        return len(self.asking) > 1


class RunningCall(NamedTuple):
    """A call that runs now: the calls of its task, and the numbers of its own questions. `counter`: of that
    task's questions; a graph inside has another one.
    """

    id: str
    tool: str
    task: TaskCalls
    counter: object
    numbers: list[int]


running_call: ContextVar[RunningCall | None] = ContextVar("hitl_running_call", default=None)


@dataclass(slots=True)
class _Graphs:
    """The graphs of a task. `open`: those that run now; `at_once`: several have run at once."""

    open: set[UUID] = field(default_factory=set[UUID])
    at_once: bool = False
    has_paused: bool = False


class TaskGraphs:
    """The graphs that the tasks of one driven run start themselves, in a tool or a node."""

    def __init__(self) -> None:
        self._by_task: dict[object, _Graphs] = {}
        self._runs: dict[UUID, tuple[_Graphs, RunningCall | None, str]] = {}

    def begin(self, run_id: UUID, task: object, name: str) -> str | None:
        """Record the start of a graph in this task. Returns an error text if it may not start, because what
        runs beside it has paused.
        """
        graphs, call = self._by_task.setdefault(task, _Graphs()), running_call.get()
        self._runs[run_id] = (graphs, call, name)
        graphs.at_once = graphs.at_once or bool(graphs.open) or graphs.has_paused
        graphs.open.add(run_id)
        if call is not None:
            call.task.asking.add(call.id)
        if graphs.has_paused or (call is not None and call.task.has_paused):
            return self._problem(run_id)
        return None

    def end(self, run_id: UUID, *, pauses: bool = False) -> str | None:
        """Record the end of a run. Returns an error text if it is a graph that pauses, and others run beside
        it.
        """
        if run_id not in self._runs:
            return None
        why = self._problem(run_id) if pauses else None
        graphs, _, _ = self._runs.pop(run_id)
        graphs.open.discard(run_id)
        graphs.has_paused = graphs.has_paused or pauses
        return why

    def _problem(self, run_id: UUID) -> str | None:
        graphs, call, name = self._runs[run_id]
        if call is not None and call.task.is_mixed:
            return SEVERAL_CALLS
        return _several_graphs_text(name) if graphs.at_once else None
