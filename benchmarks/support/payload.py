"""The call that is reviewed, and its policy."""

from __future__ import annotations

from hitl_core import ToolCall
from hitl_core.model import encode

POLICY = {"default": "review"}
#: The size of every call's arguments as JSON, in bytes.
ARGUMENTS = 1000


def tool_call() -> ToolCall:
    """One e-mail of exactly ARGUMENTS bytes."""
    return ToolCall("call-1", "send_email", _ARGS)


def _make_args() -> dict[str, str]:
    args = {"to": "jo@example.com", "subject": "Your refund", "body": ""}
    room = ARGUMENTS - len(encode(args).data)
    return {**args, "body": ("Hello Jo. " * 100)[:room]}


#: Made once, because making them is not part of a submit.
_ARGS = _make_args()
