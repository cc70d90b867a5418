"""Finds which arguments reach a tool's function as they were approved, and which ones LangChain drops,
changes or fills itself. Pure.
"""

from hitl_core.integrations.langgraph.arguments.accepted_args import (
    args_problem,
    refusal_problem,
    schema_of,
)
from hitl_core.integrations.langgraph.arguments.removed import removal_problem

__all__ = ["args_problem", "refusal_problem", "removal_problem", "schema_of"]
