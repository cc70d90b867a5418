"""ToolCall → Ruling: which calls need a person. Pure; only `Policy.load` reads a file."""

from hitl_core.policy.policy import Policy
from hitl_core.policy.reader.report import InvalidPolicy, Problem
from hitl_core.policy.ruling import Ruling

__all__ = ["InvalidPolicy", "Policy", "Problem", "Ruling"]
