"""Runs an agent's threads: submits their pauses for review, and resumes them after the decisions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from hitl_core import errors
from hitl_core.errors import IntegrationError, InvalidToolCall, ReviewConflict
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate, Outcome, ReviewKey, check_review_key
from hitl_core.integrations.langgraph.driver.resumption import NodeFailed, resume
from hitl_core.integrations.langgraph.driver.retries import Retries
from hitl_core.integrations.langgraph.driver.run import Run, RunSettings, Settings, check_same_run
from hitl_core.integrations.langgraph.driver.served_agents import check_not_served, serve_only
from hitl_core.integrations.langgraph.driver.thread import GraphThread, Streaming
from hitl_core.integrations.langgraph.driver.thread_locks import ThreadLocks
from hitl_core.integrations.langgraph.driver.thread_reviews import Input, ThreadReviews
from hitl_core.integrations.langgraph.graph import Graph, read_tools
from hitl_core.integrations.langgraph.guard import ActiveRun, ActiveRuns, PauseLost
from hitl_core.integrations.langgraph.inventory import Inventory
from hitl_core.integrations.langgraph.pauses import (
    KnownGraphs,
    is_stalled,
    is_unfinished,
    read_pauses,
)
from hitl_core.model import Review
from hitl_core.tasks import is_cancellation, run_to_end, task_group

log = logging.getLogger(__name__)

OnStop: TypeAlias = Callable[[Run], Awaitable[None]]


class Driver:
    """Made by `HumanReview.drive`. A paused run exists only in its checkpointer: no process waits for it."""

    def __init__(
        self,
        gate: Gate,
        active_runs: ActiveRuns,
        agent: Graph,
        inventory: Inventory,
        settings: Settings,
        streaming: Streaming,
    ) -> None:
        self._gate, self._active_runs, self._agent = gate, active_runs, agent
        self._settings, self._streaming = settings, streaming
        tools = read_tools(agent, inventory.tool_nodes.values(), inventory.graphs.values())
        self._reviews = ThreadReviews(gate, tools)
        self._graphs = KnownGraphs.read(inventory.graphs.values())
        self._retries = Retries()
        self._locks = ThreadLocks(gate)

    async def run(
        self,
        input: Input | None,
        *,
        thread_id: str,
        requester: str | None = None,
        origin: str | None = None,
        config: RunnableConfig | None = None,
        context: Any = None,
    ) -> Run:
        """Run the agent until it ends or pauses, and submit its pauses for review.

        `input` None continues a run after a crash: only for the process that owns the thread. New input for
        a thread that waits for people cancels their reviews, and the model gets a message about each
        cancelled call. `requester` is the chat user for whom the agent acts, `origin` the thread in which
        that person asked ("slack:C0123ABCD/1700000000.000100"); they default to those of the last run, the
        origin only if the requester is the same. `config` and `context` override those of `drive` until this
        run ends, also if `serve` of this process resumes it. For other processes, give `drive` functions.

        Raises Refused for new input while the thread is busy, ReviewConflict if another requester began the
        run that would continue, InvalidToolCall and IntegrationError for calls that can't be reviewed or
        guarded, StoreUnavailable and LeaseLost (call run(None) later), StoreError if the checkpointer has
        nothing to continue, and any error of the agent.
        """
        if isinstance(input, Command):
            self._locks.check_free(thread_id)  # what it answers may be gone after the other run
        async with self._locks.hold(thread_id, waits=input is None):
            thread, state, live = await self._load_thread(thread_id, requester, origin)
            run_settings = RunSettings(config, context)
            if input is None or isinstance(input, Command):  # the last run continues
                thread.check_saved(state)
                thread.check_requester(state)
                run_settings = self._settings.for_run(thread_id, state, run_settings)
            thread = thread.with_settings(run_settings)
            if input is not None:
                async with self._reviews.hold_for_input(thread, state, live, input) as new_input:
                    self._settings.begin(run_settings)  # not for refused input
                    stopped = await thread.invoke(new_input, state)
                    self._settings.end_replaced(thread_id, state, run_settings)
                    return await self._stop_run(thread, stopped)
            self._settings.begin(run_settings)
            if is_unfinished(state) and not live:
                state = await thread.invoke(None, state)
            return await self._stop_run(thread, state, live)

    async def save_input(
        self,
        input: Mapping[str, Any],
        *,
        thread_id: str,
        requester: str | None = None,
        origin: str | None = None,
    ) -> None:
        """Save new input and return, so that a crash can't lose it; `run(None, …)` continues with it, with
        its own settings. Waiting reviews are cancelled, as in `run`. Raises Refused while the thread is busy.
        """
        self._locks.check_free(thread_id)
        async with self._locks.hold(thread_id, waits=False):
            thread, state, live = await self._load_thread(thread_id, requester, origin)
            async with self._reviews.hold_for_input(thread, state, live, input) as new_input:
                await thread.save_input(new_input, state)
                self._settings.end_replaced(thread_id, state, thread.run_settings)

    async def serve(self, on_stop: OnStop | None = None, *, concurrency: int = 8) -> None:
        """Resume the run of every settled review of this agent to its next stop. Never ends.

        `on_stop` gets the Run of each stop at least once, before the review is done; if it raises, it gets
        the Run again later. A run that raised is also tried again, each time after a longer pause. If this is
        cancelled, it ends as soon as the reviews whose stops `on_stop` has got are done. Raises
        IntegrationError while another agent of the same gate is served.
        """
        limit = asyncio.Semaphore(concurrency)
        with serve_only(self._gate, self._agent):
            async with task_group() as tasks:
                outcomes = self._gate.outcomes()
                while True:
                    await limit.acquire()  # first: what waits here, other processes can take
                    outcome = await anext(outcomes)
                    task = tasks.create_task(self._resume_review(outcome, on_stop))
                    task.add_done_callback(lambda _: limit.release())

    async def _resume_review(self, outcome: Outcome, on_stop: OnStop | None) -> None:
        with self._active_runs.hold(outcome) as active_run:
            try:
                async with self._locks.hold(outcome.thread_id, waits=True):
                    run = await self._continue_run(active_run)
                if on_stop is not None:
                    await on_stop(run)
                await failpoint("langgraph.before_done")
                await run_to_end(outcome.finish(active_run.final_results()))
                self._retries.forget(outcome)
            except (Exception, asyncio.CancelledError) as error:
                # The agent's code may raise anything. After LeaseLost, another process may have the run.
                if is_cancellation(error):
                    raise
                log.error(
                    "The run of review %s stopped: %s",
                    outcome.review_id,
                    errors.safe_message(error),
                )
                await active_run.wait_for_tools()
                if self._retries.has_failed(outcome):  # another try did not help
                    await self._reviews.record_problem(outcome, error)
                self._retries.release_later(outcome)

    async def _continue_run(self, active_run: ActiveRun) -> Run:
        """Run to the next stop. An error that another try can't solve is a stop too."""
        outcome, claim = active_run.outcome, active_run.claim
        who, where = outcome.requester, outcome.review.origin
        thread = await self._make_thread(outcome.thread_id, who, where, claim)
        state = await thread.load_state()
        thread.check_saved(state)
        if not read_pauses(state).find(outcome.turn):  # it went on, or a new run replaced it
            thread = thread.as_in_last_run(state)
        thread = thread.with_settings(self._settings.for_run(thread.id, state))
        try:
            state = await resume(thread, state, active_run)
            if is_stalled(state):
                state = await thread.invoke(None, state)
        except NodeFailed as error:
            return Run.stopped_by(thread.id, state, error)
        except PauseLost as error:
            return Run.stopped_by(thread.id, await thread.load_state(), error)
        try:
            return await self._stop_run(thread, state)
        except (InvalidToolCall, ReviewConflict, IntegrationError) as error:
            return Run.stopped_by(thread.id, state, error)

    async def _stop_run(
        self, thread: GraphThread, state: StateSnapshot, live: Sequence[Review] = ()
    ) -> Run:
        check_same_run(thread.id, state, thread.run_settings)
        pauses = read_pauses(state)
        # A review has all questions of its turn, so an unfinished turn must end first.
        open_pauses = () if is_unfinished(state) else pauses.known
        ids = [await self._reviews.submit(thread, pause) for pause in open_pauses]
        if pauses.errors and not is_unfinished(state):
            raise IntegrationError(pauses.errors[0])
        if state.tasks:
            ids.extend(review.id for review in live)
        else:
            self._settings.end(thread.run_settings.run_id)
        return Run(
            thread.id, state.values, not state.tasks, tuple(dict.fromkeys(ids)), pauses.unknown
        )

    async def _load_thread(
        self, thread_id: str, requester: str | None, origin: str | None
    ) -> tuple[GraphThread, StateSnapshot, list[Review]]:
        """The thread, its state, and its live reviews: read first, because a run that ends in between moves
        the state before its review is done.
        """
        check_not_served(self._gate, self._agent)
        check_review_key(ReviewKey(self._gate.agent, thread_id, "", requester, origin))
        thread = await self._make_thread(thread_id, requester, origin)
        live = await self._reviews.live(thread_id)
        state = await thread.load_state()
        return thread.with_defaults(state), state, live

    async def _make_thread(
        self, id: str, requester: str | None, origin: str | None, claim: str | None = None
    ) -> GraphThread:
        return GraphThread(
            gate=self._gate,
            graph=self._agent,
            graphs=self._graphs,
            active_runs=self._active_runs,
            id=id,
            requester=requester,
            origin=origin,
            default_settings=await self._settings.default(id),
            run_settings=RunSettings(),
            claim=claim or f"run:{uuid4().hex}",
            check_lock=partial(self._locks.check_held, id),
            streaming=self._streaming,
        )
