"""Reads the states of agents that a tool runs, from the checkpointer: LangGraph's snapshot omits them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel  # pyright: ignore[reportMissingTypeStubs]
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from hitl_core.integrations.langgraph.graph import SAVER, Graph, messages_of

#: The node in which an agent runs its tools.
_TOOLS = "tools"
#: The separator between the names of nested graphs.
SEPARATOR = "|"


class ToolAgentState(StateSnapshot):
    """The state of a graph that a tool runs. The names of its tasks' nodes are not known, but of those that
    run a graph themselves.
    """


class KnownGraphs(NamedTuple):
    """What is needed of all graphs to read their saved states.

    - `reader`: an agent that saves its messages as differences, if there is one: only LangGraph can join
      them;
    - `nodes`: the names of their nodes, first the one in which an agent runs its tools.
    """

    reader: Graph | None
    nodes: tuple[str, ...]

    @classmethod
    def read(cls, graphs: Collection[Graph]) -> KnownGraphs:
        channels = ((graph, cast(Any, graph).channels.get("messages")) for graph in graphs)
        reader = next((graph for graph, each in channels if isinstance(each, DeltaChannel)), None)
        nodes = dict.fromkeys(name for graph in graphs for name in graph.nodes)
        return cls(reader, tuple({_TOOLS: None, **nodes}))


class SavedStates(NamedTuple):
    """The saved states of a thread."""

    saver: BaseCheckpointSaver[Any]
    thread_id: str
    graphs: KnownGraphs

    async def load(self, namespace: str) -> CheckpointTuple | None:
        config = self._config(namespace)
        saved = await self.saver.aget_tuple(config)
        reader = self.graphs.reader
        if saved is None or reader is None:
            return saved
        values = saved.checkpoint["channel_values"]
        if "messages" in values or "messages" not in saved.checkpoint["channel_versions"]:
            return saved
        own = {**config["configurable"], SAVER: self.saver}  # pyright: ignore
        state = await reader.aget_state({"configurable": own})
        whole = {**values, "messages": messages_of(state.values)}
        return saved._replace(checkpoint={**saved.checkpoint, "channel_values": whole})

    def _config(self, namespace: str) -> RunnableConfig:
        return {"configurable": {"thread_id": self.thread_id, "checkpoint_ns": namespace}}


async def add_tool_agents(saved: SavedStates, state: StateSnapshot) -> StateSnapshot:
    """The same state, with the states of the agents that its tools run."""
    namespace = str(state.config.get("configurable", {}).get("checkpoint_ns", ""))
    tasks = [await _add_inner_state(saved, namespace, task) for task in state.tasks]
    return state._replace(tasks=tuple(tasks))


async def _add_inner_state(saved: SavedStates, namespace: str, task: PregelTask) -> PregelTask:
    if isinstance(task.state, StateSnapshot):
        return task._replace(state=await add_tool_agents(saved, task.state))
    names = (task.name,) if task.name else saved.graphs.nodes
    for name in names if task.interrupts and task.result is None else ():
        within = SEPARATOR.join(filter(None, (namespace, f"{name}:{task.id}")))
        if (inner := await _find_last_agent(saved, within)) is not None:
            return task._replace(name=name, state=await add_tool_agents(saved, inner))
    return task


async def _find_last_agent(saved: SavedStates, namespace: str) -> ToolAgentState | None:
    """The last graph that the task runs; None if it runs none. LangGraph numbers all but the first."""
    last, number = None, 0
    while True:
        each = SEPARATOR.join([namespace, str(number)]) if number else namespace
        agent = await saved.load(each)
        if agent is None:
            return last
        last, number = _to_agent_state(agent), number + 1


def _to_agent_state(saved: CheckpointTuple) -> ToolAgentState:
    values: dict[str, Any] = saved.checkpoint["channel_values"]
    writes = saved.pending_writes or ()
    ended = {task for task, channel, _ in writes if channel not in (ERROR, INTERRUPT, RESUME)}
    raised: dict[str, Sequence[Interrupt]] = {
        task: value for task, channel, value in writes if channel == INTERRUPT and task not in ended
    }
    errors = {task: value for task, channel, value in writes if channel == ERROR}
    tasks = [
        PregelTask(id, "", (), errors.get(id), interrupts=tuple(each))
        for id, each in raised.items()
    ]
    if not tasks and not _has_ended(values):
        # It continued after its pause: it runs, or its process died.
        tasks = [PregelTask("", "", ())]
    return ToolAgentState(
        values=values,
        next=tuple(task.name for task in tasks),
        config=saved.config,
        metadata=saved.metadata,
        created_at=None,
        parent_config=None,
        tasks=tuple(tasks),
        interrupts=tuple(interrupt for each in raised.values() for interrupt in each),
    )


def _has_ended(values: Mapping[str, Any]) -> bool:
    """Whether no next node is due: LangGraph keeps due nodes in channels with these names."""
    return not values.get("__pregel_tasks") and not any(
        name.startswith(("branch:", "join:", "__start__")) for name in values
    )
