"""Human approval for AI agents' tool calls: hand them to a `Gate`, run what it hands back."""

from hitl_core.errors import HitlError
from hitl_core.gate import Answer, Gate, Outcome
from hitl_core.model import ToolCall
from hitl_core.policy import Policy

__all__ = ["Answer", "Gate", "HitlError", "Outcome", "Policy", "ToolCall"]
