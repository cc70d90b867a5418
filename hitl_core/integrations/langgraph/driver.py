"""Drives an agent's runs: submits what they pause for, and resumes them when it is decided."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from hitl_core.errors import (
    HitlError,
    IntegrationError,
    InvalidToolCall,
    LeaseLost,
    Refused,
    ReviewConflict,
)
from hitl_core.failpoints import failpoint
from hitl_core.gate import Gate, Outcome
from hitl_core.integrations.langgraph.graph import Graph, Json, tool_schema
from hitl_core.integrations.langgraph.guard import Held, Holding
from hitl_core.integrations.langgraph.inbox import Inbox
from hitl_core.integrations.langgraph.pauses import Pause, Pauses, read_pauses, unfinished
from hitl_core.integrations.langgraph.run import Run

log = logging.getLogger(__name__)

#: Kept with every checkpoint, so that whoever takes a run up knows on whose behalf it goes.
REQUESTER = "hitl_requester"


class Driver:
    """Made by `HumanReview.drive`. Nothing waits in memory: a run that pauses is left to its checkpointer."""

    def __init__(
        self,
        gate: Gate,
        holding: Holding,
        agent: Graph,
        config: RunnableConfig,
        context: Any,
    ) -> None:
        self._gate, self._holding, self._agent = gate, holding, agent
        self._config, self._context = config, context
        self._failures: dict[str, int] = {}

    async def run(
        self,
        input: Mapping[str, Any] | Command[Any] | None,
        *,
        thread_id: str,
        requester: str | None = None,
    ) -> Run:
        """Run the agent until it ends or pauses, and submit what it pauses for.

        `input` None goes on where a crash left the run: only for the process that owns the thread.
        `requester` is the chat user on whose behalf the agent acts. Raises Refused for new input
        while the thread is busy, InvalidToolCall and IntegrationError for calls that can't be reviewed, and
        what the agent raises.
        """
        state = await self._look(thread_id)
        live = await self._live_review(thread_id)
        if input is not None:
            await self._check_idle(state, live, thread_id, input)
            state = await self._invoke(input, thread_id, requester)
        elif unfinished(state) and live is None:
            state = await self._invoke(None, thread_id, requester or _requester(state))
        return await self._stop(state, thread_id, requester or _requester(state), live)

    async def keep(
        self, input: Mapping[str, Any], *, thread_id: str, requester: str | None = None
    ) -> None:
        """Save new input and return, so that a crash can't lose it: `run(None, …)` takes it from there.

        Raises Refused while the thread is busy.
        """
        state = await self._look(thread_id)
        await self._check_idle(state, await self._live_review(thread_id), thread_id, input)
        config = self._config_of(thread_id, requester)
        await self._agent.aupdate_state(config, input, as_node="__start__")

    async def serve(
        self,
        told: Callable[[Run], Awaitable[None]] | None = None,
        *,
        concurrency: int = 8,
    ) -> None:
        """Take up every settled review of this agent, for ever: resume its run to the next stop.

        `told` hears of each stop, at least once; when it raises, it is told again later. So is a run
        that raised taken up again, with growing pauses.
        """
        slots = asyncio.Semaphore(concurrency)
        async with asyncio.TaskGroup() as tasks:
            async for outcome in self._gate.settled():
                await slots.acquire()
                task = tasks.create_task(self._take_up(outcome, told))
                task.add_done_callback(lambda _: slots.release())

    async def _take_up(
        self, outcome: Outcome, told: Callable[[Run], Awaitable[None]] | None
    ) -> None:
        review = outcome.review_id
        with self._holding.hold(outcome) as held:
            try:
                run = await self._advance(held)
                if told is not None:
                    await told(run)
                await failpoint("langgraph.before_done")
                await outcome.done(held.lines)
                self._failures.pop(review, None)
            except LeaseLost:
                log.warning("The lease of %s ended: another process may have its run.", review)
            except Exception as error:  # the agent's own code may raise anything
                log.error("The run of review %s stopped: %s", review, _told_safely(error))
                await held.settle()
                self._release_later(outcome)

    def _release_later(self, outcome: Outcome) -> None:
        """When its lease ends it is taken up again: after 2, 4, 8, … 64 seconds and the lease."""
        times = self._failures.get(outcome.review_id, 0)
        self._failures[outcome.review_id] = times + 1
        pause = min(2.0**times, 64.0) if times else 0.0
        asyncio.get_running_loop().call_later(pause, outcome.release)

    async def _advance(self, held: Held) -> Run:
        """From wherever the run stands to its next stop."""
        outcome = held.outcome
        thread_id, requester = outcome.thread_id, outcome.requester
        state = await self._look(thread_id)
        if state.created_at is None:
            raise IntegrationError(f"The agent's checkpointer has no thread {thread_id!r}.")
        if unfinished(state):
            state = await self._invoke(None, thread_id, requester)
        try:
            if pause := read_pauses(state).of(outcome.turn):
                state = await self._answer(pause, held)
            return await self._stop(state, thread_id, requester)
        except (InvalidToolCall, ReviewConflict, IntegrationError) as error:
            log.error("The thread %r is stuck: %s", thread_id, error)
            return Run(thread_id, state.values, False, refused=str(error))

    async def _answer(self, pause: Pause, held: Held) -> StateSnapshot:
        outcome = held.outcome
        if isinstance(pause, Inbox):
            return await self._hand_over(pause, held)
        if pause.poisoned:
            return await self._cure(outcome)
        try:
            return await self._resume(pause, outcome)
        except Exception:
            pauses = read_pauses(await self._look(outcome.thread_id))
            again = pauses.of(outcome.turn)
            if again is None or not again.poisoned:
                raise
            return await self._cure(outcome)

    async def _cure(self, outcome: Outcome) -> StateSnapshot:
        """LangChain saved an answer that it refuses: drop it, let it ask again, and answer that.

        Happens when a `when` predicate says something else than before, or somebody answered by hand.
        """
        log.warning("The thread of %s has an answer that LangChain refuses.", outcome.review_id)
        config = self._config_of(outcome.thread_id, outcome.requester)
        await self._agent.aupdate_state(config, None)
        state = await self._invoke(None, outcome.thread_id, outcome.requester)
        pause = read_pauses(state).of(outcome.turn)
        return state if pause is None else await self._resume(pause, outcome)

    async def _hand_over(self, pause: Inbox, held: Held) -> StateSnapshot:
        """The node itself acts on the answer, so the guard's place is here."""
        outcome = held.outcome
        for call in outcome.execute:
            await outcome.once(call)
        ids = [call.id for call in outcome.execute]
        try:
            state = await self._resume(pause, outcome)
        except Exception as error:
            pauses = read_pauses(await self._look(outcome.thread_id))
            if pauses.of(outcome.turn) is None:  # the node is through; something after it raised
                await outcome.report(dict.fromkeys(ids, "handed to the agent"))
                raise
            held.lines.update(dict.fromkeys(ids, f"failed: {type(error).__name__}"))
            raise IntegrationError(
                f"The node raised {type(error).__name__} after it had its answer, which LangGraph"
                " keeps: ainvoke(None) runs it again."
            ) from error
        held.lines.update(dict.fromkeys(ids, "handed to the agent"))
        return state

    async def _resume(self, pause: Pause, outcome: Outcome) -> StateSnapshot:
        answer: Command[Any] = Command(resume={pause.interrupt_id: pause.answer(outcome)})
        state = await self._invoke(answer, outcome.thread_id, outcome.requester)
        if read_pauses(state).of(outcome.turn):
            raise IntegrationError(
                f"The agent interrupts again for the turn of {outcome.review_id}: list one"
                " HumanInTheLoopMiddleware only."
            )
        return state

    async def _stop(
        self,
        state: StateSnapshot,
        thread_id: str,
        requester: str | None,
        live: str | None = None,
    ) -> Run:
        pauses = read_pauses(state)
        ids = [await self._submit(pause, thread_id, requester) for pause in pauses.known]
        if live is not None and state.next and live not in ids:
            ids.append(live)
        return Run(thread_id, state.values, not state.next, tuple(ids), pauses.unknown)

    async def _submit(self, pause: Pause, thread_id: str, requester: str | None) -> str:
        review_id = await self._gate.submit(
            pause.calls(),
            thread_id=thread_id,
            requester=requester,
            turn=pause.turn,
            rulings=pause.rulings(self._gate.policy, lambda name: tool_schema(self._agent, name)),
        )
        stored = (await self._gate.reviews.load(review_id)).review
        if stored.status == "done":
            raise IntegrationError(
                f"This turn was reviewed before ({review_id}); its decisions count once, so a fork"
                " of the thread has to start before the model's turn."
            )
        return review_id

    async def _check_idle(
        self,
        state: StateSnapshot,
        live: str | None,
        thread_id: str,
        input: Mapping[str, Any] | Command[Any],
    ) -> None:
        """New input would leave the calls that wait without an answer, so it has to wait as well."""
        pauses = read_pauses(state)
        if isinstance(input, Command) and state.next and _answers_only(input, pauses):
            return
        if pauses.known:
            waits = await self._submit(pauses.known[0], thread_id, _requester(state))
            raise Refused("paused", f"The thread {thread_id!r} waits for the review {waits}.")
        if pauses.unknown:
            raise Refused("paused", f"The thread {thread_id!r} waits at an interrupt of its own.")
        if state.next or live:
            why = f"its review {live} is still open" if live else "run(None) takes it up"
            raise Refused("busy", f"The last run of {thread_id!r} has not ended: {why}.")

    async def _live_review(self, thread_id: str) -> str | None:
        """A review of this thread that is not done: whoever holds or claims it drives the run."""
        for review_id in await self._gate.reviews.store.thread(thread_id):
            review = (await self._gate.reviews.load(review_id)).review
            if review.status == "done":  # live ones come first
                return None
            if review.agent == self._gate.agent:
                return review_id
        return None

    async def _look(self, thread_id: str) -> StateSnapshot:
        return await self._agent.aget_state(self._config_of(thread_id, None), subgraphs=True)

    async def _invoke(self, input: Any, thread_id: str, requester: str | None) -> StateSnapshot:
        """Every step is saved before the next begins: LangGraph's default loses steps on kill -9."""
        config = self._config_of(thread_id, requester)
        await cast(Any, self._agent).ainvoke(
            input, config, context=self._context, durability="sync"
        )
        return await self._look(thread_id)

    def _config_of(self, thread_id: str, requester: str | None) -> RunnableConfig:
        configurable = {**self._config.get("configurable", {}), "thread_id": thread_id}
        metadata = {**self._config.get("metadata", {}), REQUESTER: requester}
        return cast(
            RunnableConfig, {**self._config, "configurable": configurable, "metadata": metadata}
        )


def _requester(state: StateSnapshot) -> str | None:
    return cast(Mapping[str, Any], state.metadata or {}).get(REQUESTER)


def _answers_only(command: Command[Any], pauses: Pauses) -> bool:
    """Whether it answers interrupts that are not ours, each by its id."""
    if not pauses.known:
        return True
    resume: object = command.resume
    answered = cast(Json, resume) if isinstance(resume, dict) else {}
    return bool(answered) and set(answered) <= {interrupt.id for interrupt in pauses.unknown}


def _told_safely(error: Exception) -> str:
    """Others' texts may hold arguments, so of their errors only the kind and the place are told."""
    if isinstance(error, HitlError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
