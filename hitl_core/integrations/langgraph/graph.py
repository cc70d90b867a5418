"""LangGraph's edge: the types that it leaves open, and what can be asked of a compiled graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked
from pydantic import BaseModel

from hitl_core.forms import SchemaError, check_schema

Json = dict[str, Any]
Graph: TypeAlias = Pregel[Any, Any, Any, Any]


def messages_of(values: object) -> Sequence[AnyMessage]:
    """The messages of a graph's state, [] for a graph that has none."""
    return cast(Json, values).get("messages", []) if isinstance(values, dict) else []


def last_ai_message(messages: Sequence[AnyMessage]) -> AIMessage | None:
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def tool_schema(graph: Graph, name: str) -> Json | None:
    """As the model sees it, without injected arguments. None where there is none to check by."""
    node = graph.nodes.get("tools")
    tools = node.bound.tools_by_name if node and isinstance(node.bound, ToolNode) else {}
    tool = tools.get(name)
    if tool is None:
        return None
    found: Any = tool.tool_call_schema
    return usable(
        cast(Json, found if isinstance(found, dict) else cast(BaseModel, found).model_json_schema())
    )


def usable(schema: Json | None) -> Json | None:
    """None for one that can't be checked by: what runs then checks its arguments itself."""
    try:
        if schema is not None:
            check_schema(schema)
    except SchemaError:
        return None
    return schema
