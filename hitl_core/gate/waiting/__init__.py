"""Waits for decisions: how a process learns that a review is settled, and which process claims it."""

from hitl_core.gate.waiting import cancellation
from hitl_core.gate.waiting.lease import LEASE
from hitl_core.gate.waiting.listener import HEARTBEAT_TTL, ReviewListener, Watchers
from hitl_core.gate.waiting.waiter import Waiter

__all__ = [
    "HEARTBEAT_TTL",
    "LEASE",
    "ReviewListener",
    "Waiter",
    "Watchers",
    "cancellation",
]
