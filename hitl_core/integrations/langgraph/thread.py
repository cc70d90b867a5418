"""One thread of a graph: looked at, and run a step further."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from hitl_core.integrations.langgraph.graph import Graph, Json
from hitl_core.integrations.langgraph.holding import Holding
from hitl_core.integrations.langgraph.nested import Saved, with_agents_in_tools
from hitl_core.integrations.langgraph.pauses import resumed, waiting
from hitl_core.integrations.langgraph.settings import OWN, Own, combined
from hitl_core.integrations.langgraph.watch import watched
from hitl_core.model import Place
from hitl_core.policy import Policy

log = logging.getLogger(__name__)

#: Kept with every checkpoint, so that whoever takes a run up knows on whose behalf it goes.
REQUESTER = "hitl_requester"
#: And where that person asked.
ORIGIN = "hitl_origin"
#: Goes with a run to its tools: the claim by which this process drives it.
CLAIM = "hitl_claim"


Stream: TypeAlias = Callable[[str, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Streaming:
    """Who gets the chunks of each run, and which of LangGraph's modes they are in."""

    to: Stream | None
    mode: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """`default` are `drive`'s settings for this thread, `own` what the caller gave to its run; `claim` names
    the outcome that this one carries out, or is a name of its own. `policy` is the gate's at the moment."""

    graph: Graph
    reader: Graph | None
    holding: Holding
    id: str
    requester: str | None
    origin: Place | None
    default: Own
    own: Own
    claim: str
    policy: Callable[[], Policy]
    streaming: Streaming

    def given(self, own: Own) -> Thread:
        return replace(self, own=own)

    async def look(self) -> StateSnapshot:
        """What is saved, never what was streamed: only that is there after a crash."""
        state = await self.graph.aget_state(self._config(), subgraphs=True)
        saved = Saved(cast(Any, self.graph).checkpointer, self.id, self.reader)
        return await with_agents_in_tools(saved, state)

    async def invoke(self, input: Any, state: StateSnapshot) -> StateSnapshot:
        """From `state`, with every step saved before the next begins: LangGraph's default loses steps on
        kill -9. What waits and has no answer here stays as it is, though LangGraph runs it again."""
        waiting, answered = _waiting(state, input), _answered(state, input)
        with self.holding.drive(self.claim, waiting, answered), watched(self.policy):
            await self._run(input)
        return await self.look()

    async def _run(self, input: Any) -> None:
        graph, to = cast(Any, self.graph), self.streaming.to
        settings: Json = {"context": combined(self.default, self.own).context, "durability": "sync"}
        if to is None:
            await graph.ainvoke(input, self._config(), **settings)
            return
        chunks = graph.astream(input, self._config(), stream_mode=self.streaming.mode, **settings)
        async for chunk in chunks:
            try:
                await to(self.id, chunk)
            except Exception as error:  # a listener stops no run
                log.warning("`stream` raised %s on a chunk of %s.", type(error).__name__, self.id)

    async def keep(self, input: Any) -> None:
        """Save input without running anything."""
        await self.graph.aupdate_state(self._config(), input, as_node="__start__")

    async def forget_answer(self) -> StateSnapshot:
        """Drop the answer that is saved for the last interrupt, and let it be raised again."""
        await self.graph.aupdate_state(self._config(), None)
        return await self.invoke(None, await self.look())

    def _config(self) -> RunnableConfig:
        settings = cast(Json, combined(self.default, self.own).config)
        configurable: Json = {**settings.get("configurable", {}), "thread_id": self.id}
        configurable[CLAIM] = self.claim
        metadata: Json = {**settings.get("metadata", {}), REQUESTER: self.requester}
        metadata[OWN] = " ".join(self.own.names)
        if self.origin is not None:
            metadata[ORIGIN] = self.origin
        config = {**settings, "configurable": configurable, "metadata": metadata}
        return cast(RunnableConfig, config)


def _waiting(state: StateSnapshot, input: Any) -> dict[str, Any]:
    if not isinstance(input, Command):
        return waiting(state, {}) if input is None else {}
    answers = _answers(state, cast(Command[Any], input))
    return {} if answers is None else waiting(state, answers)


def _answered(state: StateSnapshot, input: Any) -> frozenset[str]:
    """The tasks that this input lets go on."""
    if not isinstance(input, Command) or cast(Command[Any], input).resume is None:
        return frozenset()
    return resumed(state, _answers(state, cast(Command[Any], input)))


def _answers(state: StateSnapshot, command: Command[Any]) -> Json | None:
    """By the interrupts' ids. None where it is one answer, for whatever waits."""
    resume: object = command.resume
    answers = cast(Json, resume) if isinstance(resume, dict) else {}
    by_id = bool(answers) and answers.keys() <= {interrupt.id for interrupt in state.interrupts}
    return answers if by_id else None


def asked_by(state: StateSnapshot) -> tuple[str | None, Place | None]:
    """On whose behalf the thread's last run went, and where that person asked."""
    metadata = cast(Json, state.metadata or {})
    return metadata.get(REQUESTER), metadata.get(ORIGIN)
