"""Human approval for the tool calls of AI agents.

Give the calls to a `Gate`, and run the calls that it returns in `Outcome.execute`.

The gate, its values and the policy are imported when they are first used, so `import hitl_core` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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

_ROOM_OF_NAME = {
    "Answer": "gate",
    "Gate": "gate",
    "Outcome": "gate",
    "Decision": "model",
    "ToolCall": "model",
    "Policy": "policy",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_ROOM_OF_NAME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
