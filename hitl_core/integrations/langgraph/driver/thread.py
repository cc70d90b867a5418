"""One thread of a graph: loads its state, and runs it to the next stop."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from hitl_core.errors import ReviewConflict, StoreError
from hitl_core.gate import Gate, requester_of
from hitl_core.integrations.langgraph.driver.answered_questions import keep_answered_questions
from hitl_core.integrations.langgraph.driver.loaded_state import hold_to_state
from hitl_core.integrations.langgraph.driver.run import (
    GRAPH_KEY,
    RUN_KEY,
    SETTINGS_KEY,
    RunSettings,
    check_same_run,
    merge_settings,
)
from hitl_core.integrations.langgraph.graph import SAVER, Graph, Json
from hitl_core.integrations.langgraph.guard import CLAIM, ActiveRuns, Questions, hold_watch
from hitl_core.integrations.langgraph.pauses import (
    KnownGraphs,
    SavedStates,
    add_tool_agents,
    answered_interrupts,
    open_interrupts,
    saved_questions,
)
from hitl_core.model import person_key
from hitl_core.tasks import is_cancellation

log = logging.getLogger(__name__)

#: Stored with every checkpoint, so that another process that resumes the run knows its requester.
REQUESTER = "hitl_requester"
#: Also stored with every checkpoint: the thread in which that person asked.
ORIGIN = "hitl_origin"
_MARKS = (REQUESTER, ORIGIN, SETTINGS_KEY, RUN_KEY, GRAPH_KEY)
_INTERRUPT_ID = re.compile("[0-9a-f]{32}")
#: The sources of states that `aupdate_state` wrote, in LangGraph's metadata.
_BY_HAND = ("update", "fork")

Stream: TypeAlias = Callable[[str, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Streaming:
    """The callback that gets the chunks of each run, and LangGraph's stream mode for them."""

    callback: Stream | None
    mode: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphThread:
    """One thread of a graph.

    - `default_settings`: the settings of `drive` for this thread; `run_settings`: those that the caller
      passed to the run;
    - `claim`: the claim of the outcome that this run carries out, else a new name;
    - `check_lock`: raises LeaseLost if another process may run the thread now.
    """

    gate: Gate
    graph: Graph
    graphs: KnownGraphs
    active_runs: ActiveRuns
    id: str
    requester: str | None
    origin: str | None
    default_settings: RunSettings
    run_settings: RunSettings
    claim: str
    check_lock: Callable[[], None]
    streaming: Streaming

    def with_settings(self, run_settings: RunSettings) -> GraphThread:
        return replace(self, run_settings=run_settings)

    def as_in_last_run(self, state: StateSnapshot) -> GraphThread:
        """This thread, for the requester and origin of its last run."""
        metadata = cast(Json, state.metadata or {})
        return replace(self, requester=metadata.get(REQUESTER), origin=metadata.get(ORIGIN))

    def with_defaults(self, state: StateSnapshot) -> GraphThread:
        """This thread; if no requester or origin is given, with those of its last run. Another requester did
        not ask at that origin.
        """
        last = self.as_in_last_run(state)
        if self.requester is not None and not _is_same_person(self.requester, last.requester):
            return self
        return replace(last, origin=self.origin or last.origin)

    def check_saved(self, state: StateSnapshot) -> None:
        """Raises StoreError if the checkpointer has nothing of this thread."""
        if state.created_at is None:
            raise StoreError(f"The agent's checkpointer has no thread {self.id!r:.80}.")

    def check_requester(self, state: StateSnapshot) -> None:
        """Raises ReviewConflict if this continues a run that another requester began: that person could
        approve what their own message led to.
        """
        began = self.as_in_last_run(state).requester
        if state.tasks and began and not _is_same_person(began, self.requester):
            raise ReviewConflict(
                f"The run of {self.id!r:.80} is for another requester. Leave `requester` out to continue it."
            )

    async def load_state(self) -> StateSnapshot:
        """The saved state, never the streamed one: after a crash only the saved state is there."""
        state = await self.graph.aget_state(self._config(), subgraphs=True)
        saved = SavedStates(cast(Any, self.graph).checkpointer, self.id, self.graphs)
        return await add_tool_agents(saved, await self._with_marks(state))

    async def _with_marks(self, state: StateSnapshot) -> StateSnapshot:
        """The state with the marks of its run. One that code wrote by hand (`aupdate_state`) has none of its
        own: the run that goes on from there is still the run before it. If other code began that run, its id
        is that of the checkpoint from which the driver continues it.
        """
        marked = state
        while RUN_KEY not in (metadata := cast(Json, marked.metadata or {})):
            if metadata.get("source") not in _BY_HAND or marked.parent_config is None:
                break
            marked = await self.graph.aget_state(marked.parent_config)
        marks = {key: metadata[key] for key in _MARKS if key in metadata}
        marks.setdefault(RUN_KEY, marked.config.get("configurable", {}).get("checkpoint_id"))
        return state._replace(metadata=cast(Any, {**cast(Json, state.metadata or {}), **marks}))

    async def invoke(self, input: Any, state: StateSnapshot) -> StateSnapshot:
        """Run from `state` to the next stop. Every step is saved before the next one begins: with LangGraph's
        default, kill -9 loses steps. Tasks without an answer in `input` pause again, though LangGraph starts
        them again. Raises ThreadMoved if the thread is not in `state` any more.
        """
        interrupts, answered = _open_interrupts(state, input), _answered_interrupts(state, input)
        questions = Questions(saved_questions(state))
        with (
            self.active_runs.hold_step(self.claim, interrupts, answered),
            hold_watch(lambda: self.gate.policy, questions, self.check_lock),
        ):
            await self._run(input, self._config_for(state, questions))
        return await self.load_state()

    async def _run(self, input: Any, config: RunnableConfig) -> None:
        graph, callback = cast(Any, self.graph), self.streaming.callback
        settings: Json = {
            "context": merge_settings(self.default_settings, self.run_settings).context,
            "durability": "sync",
        }
        if callback is None:
            await graph.ainvoke(input, config, **settings)
            return
        chunks = graph.astream(input, config, stream_mode=self.streaming.mode, **settings)
        async for chunk in chunks:
            try:
                await callback(self.id, chunk)
            except (Exception, asyncio.CancelledError) as error:  # it must not stop the run
                if is_cancellation(error):
                    raise
                log.warning("`stream` raised %s on a chunk of %s.", type(error).__name__, self.id)

    async def save_input(self, input: Any, state: StateSnapshot) -> None:
        """Save input after `state`, without running anything. Raises ThreadMoved, and Refused if the input of
        another process replaced it.
        """
        await self.graph.aupdate_state(self._config_for(state), input, as_node="__start__")
        check_same_run(self.id, await self.load_state(), self.run_settings)

    async def forget_answer(self) -> StateSnapshot:
        """Drop the saved answer to the last interrupt, and run again, so that it is raised again."""
        await self.graph.aupdate_state(self._config_for(await self.load_state()), None)
        return await self.invoke(None, await self.load_state())

    def _config_for(
        self, state: StateSnapshot, questions: Questions | None = None
    ) -> RunnableConfig:
        """The config of what only continues this state. `questions`: of its tasks."""
        config, saver = self._config(), cast(Any, self.graph).checkpointer
        saver = keep_answered_questions(saver, questions or Questions())
        saver = hold_to_state(saver, self.id, state)
        configurable = {**cast(Json, config)["configurable"], SAVER: saver}
        return {**config, "configurable": configurable}

    def _config(self) -> RunnableConfig:
        settings = cast(Json, merge_settings(self.default_settings, self.run_settings).config)
        configurable: Json = {**settings.get("configurable", {}), "thread_id": self.id}
        configurable[CLAIM] = self.claim
        metadata: Json = {**settings.get("metadata", {}), REQUESTER: self.requester}
        metadata[SETTINGS_KEY] = " ".join(self.run_settings.names)
        metadata[RUN_KEY] = self.run_settings.run_id
        metadata[GRAPH_KEY] = self.graph.name
        if self.origin is not None:
            metadata[ORIGIN] = self.origin
        config = {**settings, "configurable": configurable, "metadata": metadata}
        return cast(RunnableConfig, config)


def _is_same_person(one: str, other: str | None) -> bool:
    return person_key(requester_of(one) or "") == person_key(requester_of(other) or "")


def _open_interrupts(state: StateSnapshot, input: Any) -> dict[str, Any]:
    if not isinstance(input, Command):
        return open_interrupts(state, {}) if input is None else {}
    answers = _answers_by_id(cast(Command[Any], input))
    return {} if answers is None else open_interrupts(state, answers)


def _answered_interrupts(state: StateSnapshot, input: Any) -> dict[str, frozenset[str]]:
    """The interrupts that this input answers, by task."""
    if not isinstance(input, Command) or cast(Command[Any], input).resume is None:
        return {}
    return answered_interrupts(state, _answers_by_id(cast(Command[Any], input)))


def _answers_by_id(command: Command[Any]) -> Json | None:
    """The answers by interrupt id, as LangGraph reads them: the ids may be those of interrupts that no longer
    wait. None if the command has one answer for the interrupt that waits.
    """
    resume: object = command.resume
    if not isinstance(resume, dict):
        return None
    answers = cast(Json, resume)
    return answers if all(map(_INTERRUPT_ID.fullmatch, answers)) else None
