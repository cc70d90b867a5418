"""The one object that an agent gets: it drives its runs and guards its tools."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from hitl_core.errors import IntegrationError
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.driver import Driver
from hitl_core.integrations.langgraph.graph import ASKING, Graph
from hitl_core.integrations.langgraph.guard import ReviewGuard
from hitl_core.integrations.langgraph.holding import Holding
from hitl_core.integrations.langgraph.nested import MARK


class HumanReview:
    """Make it where the gate's event loop runs. `middleware` goes after HumanInTheLoopMiddleware."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._holding = Holding()
        self.middleware = ReviewGuard(gate, self._holding)

    def drive(
        self,
        agent: Graph,
        *,
        config: RunnableConfig | None = None,
        context: Any = None,
        allow_in_memory: bool = False,
    ) -> Driver:
        """`config` and `context` go into every run (callbacks, recursion_limit, …).

        `allow_in_memory` is for tests. Raises IntegrationError for an agent whose runs could not be
        taken up again, or whose tools would not be guarded.
        """
        _check(agent, allow_in_memory)
        return Driver(self._gate, self._holding, agent, config or {}, context)


def _check(agent: Graph, allow_in_memory: bool) -> None:
    saver: object = cast(Any, agent).checkpointer
    if saver is None or isinstance(saver, bool):
        raise IntegrationError(
            "This agent has no checkpointer of its own, so a paused run would be lost: give"
            " create_agent a durable one, for example AsyncSqliteSaver or AsyncPostgresSaver."
        )
    if isinstance(saver, InMemorySaver) and not allow_in_memory:
        raise IntegrationError(
            "An in-memory checkpointer loses paused runs with its process: use a durable one, for"
            " example AsyncSqliteSaver or AsyncPostgresSaver (or allow_in_memory=True in a test)."
        )
    if agent.interrupt_before_nodes or agent.interrupt_after_nodes:
        raise IntegrationError(
            "A pause by interrupt_before or interrupt_after can't be told from a crash: call"
            " interrupt() in a node in its place."
        )
    if ASKING in agent.nodes and MARK not in cast(Any, agent).channels:
        raise IntegrationError(
            "This agent's tools are not guarded: list `reviews.middleware` after"
            " HumanInTheLoopMiddleware."
        )
