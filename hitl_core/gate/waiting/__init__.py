"""Waits for decisions: how a process learns that a review is settled, and which process claims it."""

from hitl_core.gate.waiting.listener import HEARTBEAT_TTL, ReviewListener, Watchers
from hitl_core.gate.waiting.waiter import Waiter, check_agent

__all__ = [
    "HEARTBEAT_TTL",
    "ReviewListener",
    "Waiter",
    "Watchers",
    "check_agent",
]
