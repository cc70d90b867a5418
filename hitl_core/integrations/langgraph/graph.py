"""LangGraph's edge: the types that it leaves open, and what can be asked of a compiled graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked
from pydantic import BaseModel

from hitl_core.gate.request import flaw_of

#: The node that LangChain makes of its middleware, in both modes: an agent that has it pauses before tools.
ASKING = "HumanInTheLoopMiddleware.after_model"

Json = dict[str, Any]
Graph: TypeAlias = Pregel[Any, Any, Any, Any]


def messages_of(values: object) -> Sequence[AnyMessage]:
    """The messages of a graph's state, [] for a graph that has none."""
    return cast(Json, values).get("messages", []) if isinstance(values, dict) else []


def last_ai_message(messages: Sequence[AnyMessage]) -> AIMessage | None:
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


class Tools(NamedTuple):
    """`schemas` by name, of an agent's tools, None where there is none to check by: what runs then checks its
    arguments itself. `unedited`: LangChain's middleware takes no edit on these, so no edit makes one of them.
    """

    schemas: Mapping[str, Json | None] = {}
    unedited: frozenset[str] = frozenset()


def tools_of(graph: Graph) -> Tools:
    """Those of an agent that `create_agent` made; of another graph none are known."""
    node, asking = graph.nodes.get("tools"), graph.nodes.get(ASKING)
    tools = node.bound.tools_by_name if node and isinstance(node.bound, ToolNode) else {}
    middleware = getattr(getattr(asking and asking.bound, "func", None), "__self__", None)
    rules: Mapping[str, Json] = getattr(middleware, "interrupt_on", {})
    unedited = {
        name for name, rule in rules.items() if "edit" not in rule.get("allowed_decisions", ())
    }
    return Tools({name: _schema(tool) for name, tool in tools.items()}, frozenset(unedited))


def _schema(tool: Any) -> Json | None:
    """As the model sees it, without injected arguments."""
    found: object = tool.tool_call_schema
    is_json = isinstance(found, dict)
    schema = cast(Json, found) if is_json else cast(BaseModel, found).model_json_schema()
    return None if flaw_of(schema) else schema
