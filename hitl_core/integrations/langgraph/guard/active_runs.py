"""The runs that this process drives now. The driver registers them, and the guard looks them up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import Interrupt

from hitl_core.gate import Outcome
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


class ActiveRuns:
    """The driven runs, by claim: a run that lost its lease must not find the run of the next holder."""

    def __init__(self) -> None:
        self._runs: dict[str, ActiveRun] = {}
        self._open_interrupts: dict[str, Mapping[str, tuple[Interrupt, ...]]] = {}
        self._answered_tasks: dict[str, frozenset[str]] = {}
        self._continued_calls: dict[str, set[tuple[str, str]]] = {}

    def get(self, claim: str | None, turn: str) -> ActiveRun | None:
        active_run = self._runs.get(claim or "")
        return active_run if active_run and active_run.outcome.turn == turn else None

    def find_by_claim(self, claim: str | None) -> ActiveRun | None:
        """The run with this claim, of any turn."""
        return self._runs.get(claim or "")

    def open_interrupts(self, claim: str | None) -> Mapping[str, tuple[Interrupt, ...]] | None:
        """The interrupts that this step doesn't answer, by task; None if this process doesn't drive it."""
        return self._open_interrupts.get(claim or "")

    def can_continue(self, claim: str | None, task_id: str, call_id: str) -> bool:
        """Whether this step answers an interrupt of the task. True only once for each of its calls."""
        calls = self._continued_calls.get(claim or "", set())
        if task_id not in self._answered_tasks.get(claim or "", ()) or (task_id, call_id) in calls:
            return False
        calls.add((task_id, call_id))
        return True

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
        answered_tasks: frozenset[str] = frozenset(),
    ) -> Generator[None, None, None]:
        """Registers a step while the graph runs it. `answered_tasks`: those whose interrupts it answers."""
        self._open_interrupts[claim] = open_interrupts
        self._answered_tasks[claim], self._continued_calls[claim] = answered_tasks, set()
        try:
            yield
        finally:
            del (
                self._open_interrupts[claim],
                self._answered_tasks[claim],
                self._continued_calls[claim],
            )
