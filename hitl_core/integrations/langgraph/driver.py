"""Drives an agent's runs: submits what they pause for, and resumes them when it is decided."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeAlias, cast
from uuid import uuid4
from weakref import WeakValueDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from hitl_core import errors
from hitl_core.errors import (
    HitlError,
    IntegrationError,
    InvalidToolCall,
    LeaseLost,
    Refused,
    ReviewConflict,
    StoreError,
)
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate, Outcome
from hitl_core.integrations.langgraph.graph import Graph, Json, tools_of
from hitl_core.integrations.langgraph.holding import Held, Holding
from hitl_core.integrations.langgraph.lost_pauses import PauseLost
from hitl_core.integrations.langgraph.nested import reader_of
from hitl_core.integrations.langgraph.pauses import Pause, Pauses, read_pauses, stalled, unfinished
from hitl_core.integrations.langgraph.reachable import Reachable
from hitl_core.integrations.langgraph.resumption import NodeFailed, resume
from hitl_core.integrations.langgraph.run import Run
from hitl_core.integrations.langgraph.settings import Own, Settings
from hitl_core.integrations.langgraph.thread import Streaming, Thread, asked_by
from hitl_core.integrations.langgraph.withdrawal import with_answers, withdrawn
from hitl_core.model import Place, Review

log = logging.getLogger(__name__)

Input: TypeAlias = Mapping[str, Any] | Command[Any]
OnStop: TypeAlias = Callable[[Run], Awaitable[None]]


class Driver:
    """Made by `HumanReview.drive`. A run that pauses is left to its checkpointer: nothing waits."""

    def __init__(
        self,
        gate: Gate,
        holding: Holding,
        agent: Graph,
        reached: Reachable,
        settings: Settings,
        streaming: Streaming,
    ) -> None:
        self._gate, self._holding, self._agent = gate, holding, agent
        self._settings, self._streaming = settings, streaming
        self._tools = tools_of(agent, reached.tool_nodes.values())
        self._reader = reader_of(reached.graphs.values())
        self._failures: dict[str, int] = {}
        self._turnstiles: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(
        self,
        input: Input | None,
        *,
        thread_id: str,
        requester: str | None = None,
        origin: Place | None = None,
        config: RunnableConfig | None = None,
        context: Any = None,
    ) -> Run:
        """Run the agent until it ends or pauses, and submit what it pauses for.

        `input` None goes on where a crash left the run: only for the process that owns the thread. New
        input for a thread that waits for people cancels what they were asked, and the model is told so of
        each call. `requester` is the chat user on whose behalf the agent acts, `origin` the place in which
        that person asked it, "slack:C0123ABCD/1700000000.000100"; what is not said is as in the run before.
        `config` and `context` are this run's own, over those of `drive`, until it ends: `serve` of this
        process resumes it with them. For other processes give `drive` a function that makes them.

        Raises Refused for new input while the thread is busy, InvalidToolCall and IntegrationError for
        calls that can't be reviewed or guarded, StoreUnavailable (run(None) makes up for it), and what the
        agent raises.
        """
        async with self._turnstile(thread_id):
            thread, state = await self._look(thread_id, requester, origin)
            given = Own(config, context)
            if input is None or isinstance(input, Command):  # it goes on with the last run
                given = self._settings.own(thread_id, state, given)
            self._settings.begin(thread_id, given)
            thread = thread.given(given)
            live = await self._live_reviews(thread_id)
            if input is not None:
                async with self._admitted(thread, state, live, input) as admitted:
                    return await self._stop(thread, await thread.invoke(admitted, state))
            if unfinished(state) and not live:
                state = await thread.invoke(None, state)
            return await self._stop(thread, state, live)

    async def keep(
        self,
        input: Mapping[str, Any],
        *,
        thread_id: str,
        requester: str | None = None,
        origin: Place | None = None,
    ) -> None:
        """Save new input and return, so that a crash can't lose it: `run(None, …)` takes it from there. What
        waits for people is cancelled, as in `run`. Raises Refused while the thread is busy.
        """
        turnstile = self._turnstile(thread_id)
        if turnstile.locked():
            raise Refused("busy", f"A run of {thread_id!r} is going on.")
        async with turnstile:
            thread, state = await self._look(thread_id, requester, origin)
            live = await self._live_reviews(thread_id)
            async with self._admitted(thread, state, live, input) as admitted:
                await thread.keep(admitted)

    async def serve(self, on_stop: OnStop | None = None, *, concurrency: int = 8) -> None:
        """Take up every settled review of this agent, without end: resume its run to the next stop.

        `on_stop` gets the Run of each stop, at least once, while the review is still open; when it raises, it
        gets it again later. A run that raised is taken up again too, with growing pauses.
        """
        slots = asyncio.Semaphore(concurrency)
        async with asyncio.TaskGroup() as tasks:
            async for outcome in self._gate.settled():
                await slots.acquire()
                task = tasks.create_task(self._take_up(outcome, on_stop))
                task.add_done_callback(lambda _: slots.release())

    async def _take_up(self, outcome: Outcome, on_stop: OnStop | None) -> None:
        with self._holding.hold(outcome) as held:
            try:
                async with self._turnstile(outcome.thread_id):
                    run = await self._go_on(held)
                if on_stop is not None:
                    await on_stop(run)
                await failpoint("langgraph.before_done")
                # A call that the review doesn't know was stopped, and is no result of it.
                known = {call.tool_call_id for call in outcome.review.calls}
                await outcome.done({id: line for id, line in held.lines.items() if id in known})
                self._failures.pop(outcome.review_id, None)
            except LeaseLost:
                log.warning("Another process may have the run of %s now.", outcome.review_id)
                await held.settle()
            except Exception as error:  # the agent's own code may raise anything
                log.error("The run of review %s stopped: %s", outcome.review_id, errors.told(error))
                await held.settle()
                self._release_later(outcome)

    async def _go_on(self, held: Held) -> Run:
        """To the next stop. What trying again will not cure becomes a stop as well."""
        outcome = held.outcome
        origin = outcome.review.origin
        thread = await self._thread(outcome.thread_id, outcome.requester, origin, held.claim)
        state = await thread.look()
        if state.created_at is None:
            raise StoreError(f"The agent's checkpointer has no thread {thread.id!r}.")
        thread = thread.given(self._settings.own(thread.id, state))
        try:
            state = await resume(thread, state, held)
            if stalled(state):
                state = await thread.invoke(None, state)
        except NodeFailed as error:
            return _refused(thread, state, error)
        except PauseLost as error:
            return _refused(thread, await thread.look(), error)
        try:
            return await self._stop(thread, state)
        except (InvalidToolCall, ReviewConflict, IntegrationError) as error:
            return _refused(thread, state, error)

    def _release_later(self, outcome: Outcome) -> None:
        """It is taken up again when its lease ends: now, or in 2, 4, 8, … 64 seconds."""
        times = self._failures.get(outcome.review_id, 0)
        self._failures[outcome.review_id] = times + 1
        pause = min(2.0**times, 64.0) if times else 0.0
        asyncio.get_running_loop().call_later(pause, outcome.release)

    async def _stop(self, thread: Thread, state: StateSnapshot, live: Sequence[Review] = ()) -> Run:
        pauses = read_pauses(state)
        # A review holds all that its turn asks, so whoever runs the turn right now comes to its end first.
        asked = () if unfinished(state) else pauses.known
        ids = [await self._submit(thread, pause) for pause in asked]
        if pauses.lost and not unfinished(state):
            raise IntegrationError(pauses.lost[0])
        if state.tasks:
            ids.extend(review.id for review in live)
        else:
            self._settings.end(thread.id)
        return Run(
            thread.id, state.values, not state.tasks, tuple(dict.fromkeys(ids)), pauses.unknown
        )

    async def _submit(self, thread: Thread, pause: Pause) -> str:
        asked = await pause.request(thread.id, self._gate.policy, self._tools)
        review_id = await self._gate.submit(
            asked,
            thread_id=thread.id,
            requester=thread.requester,
            turn=pause.turn,
            origin=thread.origin,
        )
        stored = (await self._gate.reviews.load(review_id)).review
        if stored.status == "done":
            raise IntegrationError(
                f"This turn was reviewed before ({review_id}); its decisions count once, so a fork"
                " of the thread has to start before the model's turn."
            )
        return review_id

    @asynccontextmanager
    async def _admitted(
        self, thread: Thread, state: StateSnapshot, live: Sequence[Review], input: Input
    ) -> AsyncGenerator[Input, None]:
        """New input as the thread can take it now. Raises Refused where it has to wait."""
        pauses = read_pauses(state)
        driven = any(review.status == "claimed" for review in live)
        if state.tasks and not driven and _answers_others(input, pauses):
            yield input
            return
        if pauses.unknown and not driven:
            raise Refused("paused", f"The thread {thread.id!r} waits at an interrupt of its own.")
        paused = bool(pauses.known) and not unfinished(state)
        if isinstance(input, Command) and paused:
            waits = await self._submit(thread, pauses.known[0])
            raise Refused("paused", f"The thread {thread.id!r} waits for the review {waits}.")
        if (state.tasks and not paused) or any(review.status != "pending" for review in live):
            why = f"its review {live[0].id} is still open" if live else "run(None) takes it up"
            raise Refused("busy", f"The last run of {thread.id!r} has not ended: {why}.")
        # Also what a crash kept from being asked: else another process could ask it now.
        ids = [await self._submit(thread, pause) for pause in pauses.known]
        ids.extend(review.id for review in live)
        async with withdrawn(self._gate, dict.fromkeys(ids)) as outcomes:
            command = isinstance(input, Command)
            yield input if command else with_answers(input, state, outcomes)

    async def _live_reviews(self, thread_id: str) -> list[Review]:
        """Those of this thread that are not done: whoever holds or claims one drives the run."""
        live: list[Review] = []
        for review_id in await self._gate.reviews.store.thread(thread_id):
            review = (await self._gate.reviews.load(review_id)).review
            if review.status == "done":  # live ones come first
                break
            if review.agent == self._gate.agent:
                live.append(review)
        return live

    def _turnstile(self, thread_id: str) -> asyncio.Lock:
        """One run of a thread at a time: nodes side by side may wait for reviews of their own."""
        return self._turnstiles.setdefault(thread_id, asyncio.Lock())

    async def _look(
        self, thread_id: str, requester: str | None, origin: Place | None
    ) -> tuple[Thread, StateSnapshot]:
        thread = await self._thread(thread_id, requester, origin)
        state = await thread.look()
        last_requester, last_origin = asked_by(state)
        who, where = requester or last_requester, origin or last_origin
        return replace(thread, requester=who, origin=where), state

    async def _thread(
        self, id: str, requester: str | None, origin: Place | None, claim: str | None = None
    ) -> Thread:
        default = await self._settings.default(id)
        return Thread(
            graph=self._agent,
            reader=self._reader,
            holding=self._holding,
            id=id,
            requester=requester,
            origin=origin,
            default=default,
            own=Own(),
            claim=claim or f"run:{uuid4().hex}",
            policy=lambda: self._gate.policy,
            streaming=self._streaming,
        )


def _refused(thread: Thread, state: StateSnapshot, error: HitlError) -> Run:
    log.error("The thread %r can't go on: %s", thread.id, error)
    return Run(thread.id, state.values, finished=False, refused=str(error))


def _answers_others(input: Input, pauses: Pauses) -> bool:
    """Whether it answers interrupts that are not ours: each by its id where one of ours waits as well."""
    if not isinstance(input, Command) or not pauses.known:
        return isinstance(input, Command)
    resume: object = input.resume
    answered = cast(Json, resume) if isinstance(resume, dict) else {}
    return bool(answered) and set(answered) <= {interrupt.id for interrupt in pauses.unknown}
