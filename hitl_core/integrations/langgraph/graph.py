"""Types for LangGraph, and what can be read from a compiled graph."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked
from xxhash import xxh3_128_hexdigest

from hitl_core.errors import InvalidToolCall
from hitl_core.gate import find_schema_flaw
from hitl_core.integrations.langgraph.arguments import args_problem, refusal_problem, schema_of
from hitl_core.jsonschema import ProtectedPaths
from hitl_core.model import ToolCall
from hitl_core.policy import combine_schemas

#: The node that LangChain makes of its middleware, in both modes. It pauses the agent before tools.
HITL_NODE = "HumanInTheLoopMiddleware.after_model"
#: LangGraph's key in a config for the checkpointer of a graph and of all graphs inside it.
SAVER = "__pregel_checkpointer"
#: LangGraph's key in a config for what it counts in a task: interrupts, with their answers, and graphs.
SCRATCHPAD = "__pregel_scratchpad"

Json = dict[str, Any]
Graph: TypeAlias = Pregel[Any, Any, Any, Any]


def interrupt_id(namespace: str, number: int) -> str:
    """The id that LangGraph gives to the interrupt with this number of a task. `namespace`: of the task."""
    return xxh3_128_hexdigest((f"{namespace}|{number}" if number else namespace).encode())


def messages_of(values: object) -> Sequence[AnyMessage]:
    """The messages of a graph's state, [] for a graph that has none."""
    return cast(Json, values).get("messages", []) if isinstance(values, dict) else []


def last_ai_message(messages: Sequence[AnyMessage]) -> AIMessage | None:
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def answered_ids(messages: Sequence[AnyMessage]) -> frozenset[str]:
    """The ids of the last AI message's calls that have an answer. Some models use the same ids again in each
    turn, so an earlier answer doesn't count.
    """
    after = itertools.takewhile(lambda m: not isinstance(m, AIMessage), reversed(messages))
    return frozenset(m.tool_call_id for m in after if isinstance(m, ToolMessage))


class AgentTools(NamedTuple):
    """The tools of a driven agent.

    - `own`: the agent's tools by name; `all`: also those of the agents inside it;
    - `schemas`: of its own tools; None for a tool without a usable schema, whose arguments only the tool
      itself checks;
    - `not_editable`: LangChain's middleware accepts no edit of these tools, so no call can be edited into one
      of them either;
    - `graphs`: the agent and those inside it.
    """

    schemas: Mapping[str, Json | None] = {}
    not_editable: frozenset[str] = frozenset()
    own: Mapping[str, BaseTool] = {}
    all: Mapping[str, Sequence[BaseTool]] = {}
    graphs: Collection[Graph] = ()

    def args_problem(self, call: ToolCall, path: Sequence[str]) -> str | None:
        """An error text if the tool would not get this call's arguments unchanged. `path` leads to the agent
        that calls; it is empty for the driven agent. Only the driven agent's own tools are known.
        """
        return args_problem(self._find(call.name, path), call.args)

    def refusal_problem(self, call: ToolCall, path: Sequence[str]) -> str | None:
        """An error text if the tool would refuse this call's arguments. `path`: see `args_problem`."""
        return refusal_problem(self._find(call.name, path), call.args)

    def hiding_schema(self, name: str, path: Sequence[str]) -> Json | None:
        """The schema of what the schemas of all tools with this name hide, for a policy that trusts them;
        None if they hide nothing. `path`: see `args_problem`. Raises InvalidToolCall for a schema that can't
        be used: a value that it hides could be shown.
        """
        hiding: Json | None = None
        for tool in self._find(name, path):
            schema = schema_of(tool)
            if flaw := find_schema_flaw(schema):
                raise InvalidToolCall(
                    "The policy trusts the schemas of the tools (trust_tool_schemas), but that of"
                    f" {name!r} can't be used: {flaw}. Correct the schema of the tool."
                )
            if ProtectedPaths(schema, {}, ()).has_hidden_parts:
                hiding = combine_schemas(hiding, schema)
        return hiding

    def _find(self, name: str, path: Sequence[str]) -> Sequence[BaseTool]:
        own = self.own.get(name) if not path else None
        return [own] if own else self.all.get(name, ())


def read_tools(
    graph: Graph, nodes: Iterable[ToolNode] = (), graphs: Collection[Graph] = ()
) -> AgentTools:
    """The tools of an agent made by `create_agent`; for another graph no schemas are known. `nodes` and
    `graphs`: all that the graph can reach.
    """
    node, hitl_node = graph.nodes.get("tools"), graph.nodes.get(HITL_NODE)
    tools = node.bound.tools_by_name if node and isinstance(node.bound, ToolNode) else {}
    middleware = getattr(getattr(hitl_node and hitl_node.bound, "func", None), "__self__", None)
    rules: Mapping[str, Json] = getattr(middleware, "interrupt_on", {})
    not_editable = {
        name for name, rule in rules.items() if "edit" not in rule.get("allowed_decisions", ())
    }
    by_name: dict[str, list[BaseTool]] = {}
    for each in nodes:
        for name, tool in each.tools_by_name.items():
            by_name.setdefault(name, []).append(tool)
    schemas = {name: _read_schema(tool) for name, tool in tools.items()}
    return AgentTools(schemas, frozenset(not_editable), tools, by_name, graphs)


def _read_schema(tool: BaseTool) -> Json | None:
    schema = schema_of(tool)
    return None if find_schema_flaw(schema) else schema
