"""The runs that this process drives now. The driver registers them, and the guard looks them up. Also the
guard's permission for the tool call that starts now.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langgraph.types import Interrupt

from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph.guard.task_pauses import TaskCalls
from hitl_core.review import CallResult, runnable_calls

#: A key in the config of a driven run, for its tools: the claim by which this process drives the run.
CLAIM = "hitl_claim"


@dataclass(slots=True)
class ActiveRun:
    """An outcome that this process drives.

    `results`: results that are not stored yet, by call id. `started`: the ids of the calls that the guard
    let start. `running`: its tools that run now.
    """

    outcome: Outcome
    results: dict[str, CallResult] = field(default_factory=dict[str, CallResult])
    started: set[str] = field(default_factory=set[str])
    running: set[asyncio.Future[Any]] = field(default_factory=set["asyncio.Future[Any]"])

    @property
    def claim(self) -> str:
        return f"{self.outcome.review_id}:{self.outcome.review.fence}"

    def final_results(self) -> dict[str, CallResult]:
        """The results for the end of the review. A call that people approved and that the agent did not start
        will never run: its card must say so. This happens if code in the agent catches the guard's error.
        """
        review, results = self.outcome.review, dict[str, CallResult]()
        waiting = [call for call in runnable_calls(review) if call.key not in review.runs]
        for call in review.calls:
            id = call.tool_call_id
            if id in self.results:  # a result can also be of a call that is not in the review
                results[id] = self.results[id]
            elif call in waiting and id not in self.started and review.action(call.key):
                results[id] = CallResult.note("not executed: the agent did not start it")
        return results

    async def wait_for_tools(self) -> None:
        """Wait until the running tools end, so that they are reported and not in doubt."""
        if self.running:
            await asyncio.wait(self.running)  # it doesn't cancel them, as `gather` would

    def release_after_tools(self) -> None:
        """Release the review when the running tools have ended: their results are stored under its claim."""
        ended = asyncio.gather(*self.running, return_exceptions=True)
        ended.add_done_callback(lambda _: self.outcome.release())


@dataclass(slots=True)
class _Step:
    """See `ActiveRuns.hold_step`. `calls`: by task; `continued`: the calls that continued with an answer,
    by task and id; `results`: what the reviewed calls returned that ran in it, by turn and id.
    """

    open_interrupts: Mapping[str, tuple[Interrupt, ...]] = field(
        default_factory=dict[str, tuple[Interrupt, ...]]
    )
    answered: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    calls: dict[str, TaskCalls] = field(default_factory=dict[str, TaskCalls])
    continued: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    results: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])


class ActiveRuns:
    """The driven runs, by claim: a run that lost its lease must not find the run of the next holder."""

    def __init__(self) -> None:
        self._runs: dict[str, ActiveRun] = {}
        self._steps: dict[str, _Step] = {}

    def get(self, claim: str | None, turn: str) -> ActiveRun | None:
        active_run = self._runs.get(claim or "")
        return active_run if active_run and active_run.outcome.turn == turn else None

    def find_by_claim(self, claim: str | None) -> ActiveRun | None:
        """The run with this claim, of any turn."""
        return self._runs.get(claim or "")

    def is_driven(self, claim: str | None) -> bool:
        """Whether this process runs a step with this claim."""
        return claim in self._steps

    def open_interrupts(self, claim: str | None, task_id: str) -> tuple[Interrupt, ...]:
        """The interrupts of the task if this step doesn't answer one of them."""
        return self._find_step(claim).open_interrupts.get(task_id, ())

    def take_answers(self, claim: str | None, task_id: str, call_id: str) -> frozenset[str]:
        """The ids of the task's interrupts that this step answers: only once for each of its calls."""
        step = self._find_step(claim)
        if (task_id, call_id) in step.continued:
            return frozenset()
        step.continued.add((task_id, call_id))
        return step.answered.get(task_id, frozenset())

    def task_calls(self, claim: str | None, task_id: str) -> TaskCalls:
        """The calls that this step runs in the task."""
        return self._find_step(claim).calls.setdefault(task_id, TaskCalls())

    def keep_result(self, claim: str | None, turn: str, call_id: str, result: Any) -> None:
        """Keep what a reviewed call returned, until the step ends. If LangGraph or a middleware tries it
        again, the model gets this, and not that the call was stopped.
        """
        self._find_step(claim).results[turn, call_id] = result

    def find_result(self, claim: str | None, turn: str, call_id: str) -> Any:
        """What the call returned in this step; None if it did not end in it."""
        return self._find_step(claim).results.get((turn, call_id))

    def _find_step(self, claim: str | None) -> _Step:
        return self._steps.get(claim or "") or _Step()

    @contextlib.contextmanager
    def hold(self, outcome: Outcome) -> Generator[ActiveRun, None, None]:
        """Registers the run while this process drives it. If that is cancelled, another process gets the
        review; without a release, the lease would be renewed until Python frees the outcome.
        """
        active_run = ActiveRun(outcome)
        self._runs[active_run.claim] = active_run
        try:
            yield active_run
        except asyncio.CancelledError:
            active_run.release_after_tools()
            raise
        finally:
            del self._runs[active_run.claim]

    @contextlib.contextmanager
    def hold_step(
        self,
        claim: str,
        open_interrupts: Mapping[str, tuple[Interrupt, ...]],
        answered: Mapping[str, frozenset[str]],
    ) -> Generator[None, None, None]:
        """Registers a step while the graph runs it. `open_interrupts`: those that it doesn't answer, by task;
        `answered`: the ids of those that it answers.
        """
        self._steps[claim] = _Step(open_interrupts, answered)
        try:
            yield
        finally:
            del self._steps[claim]


@dataclass(slots=True)
class Ticket:
    """The guard's permission for one start of one tool, which the watch looks for. `run_id` is LangChain's id
    of that start, set at the first use, because more than one watch can see the same start."""

    call_id: str
    name: str
    run_id: UUID | None = None

    def try_use(self, name: str, call_id: object, run_id: UUID) -> bool:
        """True if the ticket is for this start. It can't be used for another one after that."""
        if (self.name, self.call_id) != (name, call_id) or self.run_id not in (None, run_id):
            return False
        self.run_id = run_id
        return True


_ticket: ContextVar[Ticket | None] = ContextVar("hitl_ticket", default=None)


@contextlib.contextmanager
def hold_ticket(call: Mapping[str, Any]) -> Generator[None, None, None]:
    """Called by the guard: within this block the call may start, once."""
    token = _ticket.set(Ticket(str(call["id"]), call["name"]))
    try:
        yield
    finally:
        _ticket.reset(token)


def current_ticket() -> Ticket | None:
    return _ticket.get()
