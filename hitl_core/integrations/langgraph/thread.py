"""One thread of a graph: looked at, and run a step further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from hitl_core.integrations.langgraph.graph import Graph, Json

#: Kept with every checkpoint, so that whoever takes a run up knows on whose behalf it goes.
REQUESTER = "hitl_requester"
#: Goes with a run to its tools: the claim by which this process drives it.
CLAIM = "hitl_claim"


@dataclass(frozen=True, slots=True)
class Thread:
    """`config` and `context` are those of every run; `claim` names the outcome that this one
    carries out."""

    graph: Graph
    id: str
    requester: str | None
    config: RunnableConfig
    context: Any
    claim: str | None = None

    async def look(self) -> StateSnapshot:
        """What is saved, never what was streamed: only that is there after a crash."""
        return await self.graph.aget_state(self._config(), subgraphs=True)

    async def invoke(self, input: Any) -> StateSnapshot:
        """Every step is saved before the next begins: LangGraph's default loses steps on kill -9."""
        graph = cast(Any, self.graph)
        await graph.ainvoke(input, self._config(), context=self.context, durability="sync")
        return await self.look()

    async def keep(self, input: Any) -> None:
        """Save input without running anything."""
        await self.graph.aupdate_state(self._config(), input, as_node="__start__")

    async def forget_answer(self) -> StateSnapshot:
        """Drop the answer that is saved for the last interrupt, and let it be raised again."""
        await self.graph.aupdate_state(self._config(), None)
        return await self.invoke(None)

    def _config(self) -> RunnableConfig:
        configurable: Json = {**self.config.get("configurable", {}), "thread_id": self.id}
        if self.claim is not None:
            configurable[CLAIM] = self.claim
        metadata = {**self.config.get("metadata", {}), REQUESTER: self.requester}
        config = {**self.config, "configurable": configurable, "metadata": metadata}
        return cast(RunnableConfig, config)


def requester_of(state: StateSnapshot) -> str | None:
    return cast(Json, state.metadata or {}).get(REQUESTER)
