"""The calls around a pause in one graph: of an AI message, or of a node if no message has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from langchain_core.messages import AIMessage

from hitl_core.errors import InvalidToolCall
from hitl_core.integrations.langgraph.graph import AgentTools
from hitl_core.integrations.langgraph.inventory import find_tool_nodes
from hitl_core.model import ToolCall
from hitl_core.policy import Policy


class OpenCalls(NamedTuple):
    """An AI message with calls that have no answer yet. `answered`: its other calls. `path`, `state`: its
    agent's.
    """

    message: AIMessage
    answered: frozenset[str]
    path: tuple[str, ...]
    state: Mapping[str, Any]

    @property
    def ids(self) -> list[str]:
        return [str(call["id"]) for call in self.message.tool_calls]

    def calls(self) -> Iterator[ToolCall]:
        """The calls, without those that can't be read: the guard stops these, so they ask nothing."""
        for each in self.message.tool_calls:
            try:
                call = ToolCall.from_mapping(each)
            except InvalidToolCall:
                continue
            if call.id not in self.answered:
                yield call


class UnknownCalls(NamedTuple):
    """The calls of a node with this name, in any graph. No message has them: the ToolNode has another
    `messages_key` or is in a node's own code, or `Send` brings the calls. So it is not known which of them
    asks, and every tool of the node may be asking.
    """

    node: str

    def may_hide(self, policy: Policy, tools: AgentTools) -> bool:
        """Whether the policy can hide a value of a call that this node runs. Raises InvalidToolCall (see
        `AgentTools.hiding_schema`).
        """
        parts = [graph.nodes[self.node].bound for graph in tools.graphs if self.node in graph.nodes]
        names = {
            name for part in parts for node in find_tool_nodes(part) for name in node.tools_by_name
        }
        return any(
            policy.can_hide(name)
            or (policy.trusts_tools and tools.hiding_schema(name, (self.node,)) is not None)
            for name in names
        )


CallsAround: TypeAlias = OpenCalls | UnknownCalls
