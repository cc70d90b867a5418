"""The one object that an agent gets: it drives its runs and guards its tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from hitl_core.errors import IntegrationError
from hitl_core.gate import Gate
from hitl_core.integrations.langgraph.active_runs import ActiveRuns
from hitl_core.integrations.langgraph.driver import Driver
from hitl_core.integrations.langgraph.graph import Graph
from hitl_core.integrations.langgraph.guard import ReviewGuard
from hitl_core.integrations.langgraph.inventory import Inventory, build_inventory, check_guardable
from hitl_core.integrations.langgraph.settings import Settings
from hitl_core.integrations.langgraph.thread import Stream, Streaming
from hitl_core.integrations.langgraph.watch import Watch


class HumanReview:
    """Make one for a process, where the gate's event loop runs."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._active_runs = ActiveRuns()
        self._guard = ReviewGuard(gate, self._active_runs)
        self._watch = Watch(lambda: gate.policy)

    def guard(self, agent: Graph) -> Graph:
        """Put the guard in front of every tool that this graph, its sub-graphs and the agents in its tools
        and nodes can run; the same graph comes back. `drive` does so too: this is for an agent that somebody
        else runs, where calls that need a person are stopped. A tool that starts past the guard is stopped by
        a callback in the graphs' config, and the run raises an IntegrationError.

        Raises IntegrationError, before anything runs, for what can't be guarded.
        """
        self._guard_all(agent)
        return agent

    def _guard_all(self, agent: Graph) -> Inventory:
        inventory = build_inventory(agent)
        check_guardable(inventory)
        for path, node in inventory.tool_nodes.items():
            if not self._guard.guard_node(node):
                raise IntegrationError(
                    f"{path}: this tool node runs its tools in a way of its own, which can't be guarded: use"
                    " LangGraph's ToolNode."
                )
        for path, graph in inventory.graphs.items():
            if not self._watch.attach_to(graph):
                raise IntegrationError(
                    f"{path}: this graph keeps no callback in its config, so a tool that starts past the"
                    " guard could not be stopped: use LangGraph's compiled graphs."
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
        """`config` and `context` go into every run (callbacks, recursion_limit, …). A function of the
        thread's id makes those of each thread, also for another process that resumes it.

        `stream` gets every chunk of every run, also of the resumed ones, as `await stream(thread_id, chunk)`;
        `stream_mode` is LangGraph's. `allow_in_memory` is for tests. Raises IntegrationError for an agent
        whose runs could not be taken up again, or whose tools can't be guarded.
        """
        _check_checkpointer(agent, allow_in_memory)
        reached = self._guard_all(agent)
        settings = Settings(config=config, context=context)
        return Driver(
            self._gate, self._active_runs, agent, reached, settings, Streaming(stream, stream_mode)
        )


def _check_checkpointer(agent: Graph, allow_in_memory: bool) -> None:
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
