"""Calls that the saved messages of a graph don't have: a ToolNode with another `messages_key` or in a node's
own code, or calls that `Send` brings. It is not known which of them asks, so every tool of the node may.
"""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.integrations.langgraph.graph import AgentTools
from hitl_core.integrations.langgraph.inventory import find_tool_nodes
from hitl_core.policy import Policy


class UnknownCalls(NamedTuple):
    """The calls of a node of this name, in any graph."""

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
            or (policy.trusts_tools and tools.hiding_schema(name, ()) is not None)
            for name in names
        )
