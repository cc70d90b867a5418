"""Finds what a compiled graph can run: nodes, sub-graphs, tools, and the agents in them. Pure.

Nothing is called. The walk follows what Python can see: the parts of a graph, closures, bound methods,
partials, attributes of the application's own objects, and the globals that its functions name. If the walk
misses a tool, `watch` stops that tool when it starts.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked
from langgraph.pregel.remote import RemoteGraph  # pyright: ignore[reportMissingTypeStubs]

from hitl_core.errors import IntegrationError
from hitl_core.integrations.langgraph.graph import Graph
from hitl_core.integrations.langgraph.object_parts import code_names, is_application_code, parts_of
from hitl_core.model import TOOL_NAME

#: The most objects that one walk visits.
MAX_OBJECTS = 20_000
#: The path of the graph from which the walk starts.
ROOT = "agent"
#: Functions that make an agent. A tool or node that calls one makes an agent at run time, which has no guard.
_AGENT_FACTORIES = frozenset(
    {
        "ToolNode",
        "RemoteGraph",
        "create_agent",
        "create_deep_agent",
        "create_react_agent",
        "create_supervisor",
    }
)
#: A valid name, for the error text about an invalid one.
_EXAMPLE_NAME = "send_mail"
#: Modules whose functions send work to another server.
_REMOTE_MODULES = ("deepagents.middleware.async_subagents", "langgraph_sdk")


@dataclass(slots=True)
class Inventory:
    """Everything that was found, each thing with its path in readable form: "agent > task > tools"."""

    tool_nodes: dict[str, ToolNode] = field(default_factory=dict[str, ToolNode])
    graphs: dict[str, Graph] = field(default_factory=dict[str, Graph])
    tools: dict[str, BaseTool] = field(default_factory=dict[str, BaseTool])
    #: Paths of agents that run on another server, and of functions that make agents at run time.
    remote: list[str] = field(default_factory=list[str])
    factories: list[str] = field(default_factory=list[str])


def build_inventory(agent: Graph) -> Inventory:
    """Find everything that can be reached from this graph."""
    inventory, visited = Inventory(), dict[int, object]()
    queue: deque[tuple[object, str]] = deque([(agent, ROOT)])
    while queue and len(visited) < MAX_OBJECTS:
        thing, path = queue.popleft()
        if id(thing) in visited or not _can_hold_tools(thing):
            continue
        visited[id(thing)] = thing  # keep a reference, so that Python doesn't use its id again
        _add_object(inventory, thing, path)
        queue.extend(parts_of(thing, path))
    return inventory


def find_tool_nodes(part: object) -> list[ToolNode]:
    """The tool nodes that this part of a graph can call itself, without those of the graphs in it."""
    found, visited = list[ToolNode](), dict[int, object]()
    queue: deque[object] = deque([part])
    while queue and len(visited) < MAX_OBJECTS:
        thing = queue.popleft()
        if id(thing) in visited or isinstance(thing, Pregel) or not _can_hold_tools(thing):
            continue
        visited[id(thing)] = thing
        if isinstance(thing, ToolNode):
            found.append(thing)
        else:
            queue.extend(each for each, _ in parts_of(thing, ""))
    return found


def check_guardable(inventory: Inventory) -> None:
    """Raises IntegrationError with the path of a thing that can't be guarded, and what to change."""
    if inventory.remote:
        raise IntegrationError(
            f"{inventory.remote[0]}: an agent on another server runs its tools there, without this guard."
            " Drive it on that server, and remove it from this graph."
        )
    if inventory.factories:
        raise IntegrationError(
            f"{inventory.factories[0]}: it makes an agent or a ToolNode while it runs, which is too late to"
            " guard it. Make it outside of that function."
        )
    for path, graph in inventory.graphs.items():
        if path != ROOT and _has_own_checkpointer(graph):
            raise IntegrationError(
                f"{path}: this agent has its own checkpointer, so the driver can't see its pauses, and nobody"
                " would be asked. Give a checkpointer to the outermost graph only."
            )
        if graph.interrupt_before_nodes or graph.interrupt_after_nodes:
            raise IntegrationError(
                f"{path}: a pause by interrupt_before or interrupt_after looks like a crash. Call interrupt()"
                " in a node instead."
            )
        for name, node in graph.nodes.items():
            if _is_cached(graph, node) and find_tool_nodes(node.bound):
                raise IntegrationError(
                    f"{path} > {name}: its results are cached, so an approved call might not run, and"
                    " get the result of an earlier one. Remove its cache_policy."
                )
    for path, tool in inventory.tools.items():
        if not TOOL_NAME.fullmatch(tool.name):
            raise IntegrationError(
                f"{path}: {tool.name!r} is not a valid tool name. A name has 1 to 128 of the characters"
                f" A-Z a-z 0-9 _ . : / -. Rename it, as in @tool({_EXAMPLE_NAME!r})."
            )
        if any(map(_is_generator, _functions_of(tool))):
            raise IntegrationError(
                f"{path}: it is a generator, so LangChain would not run it, and its card would say that it"
                " ran. Let it return its result."
            )


def check_drivable(inventory: Inventory) -> None:
    """Raises IntegrationError for a graph inside that LangGraph can't run while each step of the driven graph
    is saved before the next one (`durability="sync"`): it waits for a checkpoint that such a graph never
    makes (1.2.22).
    """
    for path, graph in inventory.graphs.items():
        if path != ROOT and cast(Any, graph).checkpointer is False:
            raise IntegrationError(
                f"{path}: LangGraph can't run a graph with checkpointer=False inside a driven one. Leave its"
                " `checkpointer` out."
            )


def _has_own_checkpointer(graph: Graph) -> bool:
    """Whether a graph saves its pauses itself, at its own place. The checkpointer None is the caller's, and
    with False the caller saves the pause. With True the graph keeps its own state between calls.
    """
    return cast(Any, graph).checkpointer not in (None, False)


def _is_cached(graph: Any, node: Any) -> bool:
    return node.cache_policy is not None or graph.cache_policy is not None


def _add_object(inventory: Inventory, thing: Any, path: str) -> None:
    if isinstance(thing, ToolNode):
        inventory.tool_nodes[_unique_path(path, inventory.tool_nodes)] = thing
    elif isinstance(thing, RemoteGraph):
        inventory.remote.append(path)
    elif isinstance(thing, Pregel):
        inventory.graphs[_unique_path(path, inventory.graphs)] = cast(Graph, thing)
    elif isinstance(thing, BaseTool):
        inventory.tools[_unique_path(path, inventory.tools)] = thing
    elif isinstance(thing, FunctionType) and str(thing.__module__).startswith(_REMOTE_MODULES):
        inventory.remote.append(path)
    if isinstance(thing, Runnable) and any(
        _is_agent_factory(each) for each in _functions_of(thing)
    ):
        inventory.factories.append(path)


def _functions_of(thing: Any) -> Iterator[object]:
    """The functions that a tool or a node runs first."""
    for name in ("func", "afunc", "coroutine"):
        yield getattr(thing, name, None)
    if isinstance(thing, BaseTool):
        yield from (type(thing)._run, type(thing)._arun)  # pyright: ignore[reportPrivateUsage]


def _is_generator(function: object) -> bool:
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def _is_agent_factory(function: Any) -> bool:
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType) or not is_application_code(function):
        return False
    return not _AGENT_FACTORIES.isdisjoint(code_names(function.__code__))


def _unique_path(path: str, taken: Mapping[str, object]) -> str:
    return path if path not in taken else f"{path} #{len(taken)}"


def _can_hold_tools(thing: object) -> bool:
    """Whether the thing can lead to a tool. A model can't: it runs no tools."""
    closed = (str, bytes, bytearray, int, float, complex, type, BaseLanguageModel, CodeType)
    return thing is not None and not isinstance(thing, (*closed, ModuleType))
