"""Human approval for the tool calls of AI agents.

Give the calls to a `Gate`, and run the calls that it returns in `Outcome.execute`.
"""

from hitl_core.errors import (
    GateClosed,
    HitlError,
    IntegrationError,
    InvalidToolCall,
    LeaseLost,
    PolicyError,
    Refused,
    Rejected,
    ReviewConflict,
    ReviewNotFound,
    SettingsError,
    StoreError,
    StoreUnavailable,
)
from hitl_core.gate import Answer, Gate, Outcome
from hitl_core.model import Decision, ToolCall
from hitl_core.policy import Policy

__all__ = [
    "Answer",
    "Decision",
    "Gate",
    "GateClosed",
    "HitlError",
    "IntegrationError",
    "InvalidToolCall",
    "LeaseLost",
    "Outcome",
    "Policy",
    "PolicyError",
    "Refused",
    "Rejected",
    "ReviewConflict",
    "ReviewNotFound",
    "SettingsError",
    "StoreError",
    "StoreUnavailable",
    "ToolCall",
]
