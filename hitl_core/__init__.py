"""Human approval for AI agents' tool calls: hand them to a `Gate`, run what it hands back."""

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
