"""One thread of a graph: looked at, and run a step further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from hitl_core.integrations.langgraph.graph import Graph, Json
from hitl_core.integrations.langgraph.holding import Holding
from hitl_core.integrations.langgraph.nested import MARK, with_agents_in_tools
from hitl_core.integrations.langgraph.pauses import waiting
from hitl_core.model import Place

#: Kept with every checkpoint, so that whoever takes a run up knows on whose behalf it goes.
REQUESTER = "hitl_requester"
#: And where that person asked.
ORIGIN = "hitl_origin"
#: Goes with a run to its tools: the claim by which this process drives it.
CLAIM = "hitl_claim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """`config` and `context` are those of every run; `claim` names the outcome that this one
    carries out, or is a name of its own."""

    graph: Graph
    holding: Holding
    id: str
    requester: str | None
    origin: Place | None
    config: RunnableConfig
    context: Any
    claim: str

    async def look(self) -> StateSnapshot:
        """What is saved, never what was streamed: only that is there after a crash."""
        state = await self.graph.aget_state(self._config(), subgraphs=True)
        if MARK in cast(Any, self.graph).channels:  # whatever came between the guard and the model
            state = state._replace(values={**state.values, MARK: True})
        return await with_agents_in_tools(cast(Any, self.graph).checkpointer, self.id, state)

    async def invoke(self, input: Any, state: StateSnapshot) -> StateSnapshot:
        """From `state`, with every step saved before the next begins: LangGraph's default loses steps on
        kill -9. What waits and has no answer here stays as it is, though LangGraph runs it again."""
        graph = cast(Any, self.graph)
        with self.holding.drive(self.claim, _waiting(state, input)):
            await graph.ainvoke(input, self._config(), context=self.context, durability="sync")
        return await self.look()

    async def keep(self, input: Any) -> None:
        """Save input without running anything."""
        await self.graph.aupdate_state(self._config(), input, as_node="__start__")

    async def forget_answer(self) -> StateSnapshot:
        """Drop the answer that is saved for the last interrupt, and let it be raised again."""
        await self.graph.aupdate_state(self._config(), None)
        return await self.invoke(None, await self.look())

    def _config(self) -> RunnableConfig:
        configurable: Json = {**self.config.get("configurable", {}), "thread_id": self.id}
        configurable[CLAIM] = self.claim
        metadata = {**self.config.get("metadata", {}), REQUESTER: self.requester}
        if self.origin is not None:
            metadata[ORIGIN] = self.origin
        config = {**self.config, "configurable": configurable, "metadata": metadata}
        return cast(RunnableConfig, config)


def _waiting(state: StateSnapshot, input: Any) -> dict[str, Any]:
    if not isinstance(input, Command):
        return waiting(state, {}) if input is None else {}
    resume: object = cast(Command[Any], input).resume
    answers = cast(Json, resume) if isinstance(resume, dict) else {}
    by_id = bool(answers) and answers.keys() <= {interrupt.id for interrupt in state.interrupts}
    return waiting(state, answers) if by_id else {}


def asked_by(state: StateSnapshot) -> tuple[str | None, Place | None]:
    """On whose behalf the thread's last run went, and where that person asked."""
    metadata = cast(Json, state.metadata or {})
    return metadata.get(REQUESTER), metadata.get(ORIGIN)
