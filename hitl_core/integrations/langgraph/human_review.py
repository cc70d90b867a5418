"""`HumanReview`: guards an agent's tools and drives its runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked

from hitl_core.errors import IntegrationError
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.driver import Driver, Settings, Stream, Streaming
from hitl_core.integrations.langgraph.graph import Graph
from hitl_core.integrations.langgraph.guard import (
    ActiveRuns,
    ReviewGuard,
    Watch,
    check_langgraph,
)
from hitl_core.integrations.langgraph.inventory import (
    Inventory,
    build_inventory,
    check_drivable,
    check_guardable,
)


class HumanReview:
    """Guards the agent of a gate, and all agents in it, and makes its driver. Make it in the gate's loop."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._active_runs = ActiveRuns()
        self._guard = ReviewGuard(gate, self._active_runs)
        self._watch = Watch(lambda: gate.policy)

    def guard(self, agent: Graph) -> Graph:
        """Guard every tool that this graph can run, also in sub-graphs and in agents inside tools and nodes.
        Returns the same graph.

        `drive` guards too; call this only for an agent that other code runs. In such a run, calls that need a
        person are stopped. If a tool starts without the guard, a callback stops it, and the run raises an
        IntegrationError.

        Raises IntegrationError, before anything runs, if something can't be guarded.
        """
        self._guard_all(agent)
        return agent

    def _guard_all(self, agent: Graph) -> Inventory:
        check_langgraph()
        inventory = build_inventory(agent)
        check_guardable(inventory)
        for path, node in inventory.tool_nodes.items():
            if not self._guard.guard_node(node):
                raise IntegrationError(
                    f"{path}: this tool node is not LangGraph's plain ToolNode, so its tools have no guard."
                    " Use ToolNode itself."
                )
        for path, graph in inventory.graphs.items():
            if not self._watch.attach_to(graph):
                raise IntegrationError(
                    f"{path}: this graph keeps no callback in its config, so a tool that starts without the"
                    " guard could not be stopped. Use LangGraph's compiled graphs."
                )
        return inventory

    def drive(
        self,
        agent: Graph,
        *,
        config: RunnableConfig | Callable[[str], RunnableConfig] | None = None,
        context: Any = None,
        stream: Stream | None = None,
        stream_mode: Any = "updates",
        allow_in_memory: bool = False,
    ) -> Driver:
        """`config` and `context` go into every run (callbacks, recursion_limit, …). Each may be a function
        that takes the thread's id. Pass the same function in every process that may resume the thread.

        `stream` gets every chunk of every run, also of resumed ones, as `await stream(thread_id, chunk)`;
        `stream_mode` is LangGraph's. `allow_in_memory` is for tests. Raises IntegrationError for an agent
        whose runs could not be resumed, or whose tools can't be guarded.
        """
        _check_checkpointer(agent, allow_in_memory)
        inventory = self._guard_all(agent)
        check_drivable(inventory)
        settings = Settings(graph_name=agent.name, config=config, context=context)
        streaming = Streaming(stream, stream_mode)
        return Driver(self._gate, self._active_runs, agent, inventory, settings, streaming)


def _check_checkpointer(agent: Graph, allow_in_memory: bool) -> None:
    if not isinstance(cast(object, agent), Pregel):
        raise IntegrationError(
            "`drive` needs a compiled graph, such as create_agent and StateGraph.compile return, not"
            f" {type(agent).__name__}."
        )
    saver: object = cast(Any, agent).checkpointer
    if saver is None or isinstance(saver, bool):
        raise IntegrationError(
            "This agent has no checkpointer of its own, so a paused run would be lost. Give"
            " create_agent a durable one, for example AsyncSqliteSaver or AsyncPostgresSaver."
        )
    if isinstance(saver, InMemorySaver) and not allow_in_memory:
        raise IntegrationError(
            "An in-memory checkpointer loses paused runs when its process ends. Use a durable one, for"
            " example AsyncSqliteSaver or AsyncPostgresSaver. In a test: drive(agent,"
            " allow_in_memory=True)."
        )
