"""Waits for decisions: which process claims a settled review, and how it hears of it."""

from hitl_core.gate.waiting.claims import Claims
from hitl_core.gate.waiting.listener import HEARTBEAT_TTL, POLL_INTERVAL, ReviewListener
from hitl_core.gate.waiting.watchers import Watchers, cancel_tasks, wait_for_event

__all__ = [
    "HEARTBEAT_TTL",
    "POLL_INTERVAL",
    "Claims",
    "ReviewListener",
    "Watchers",
    "cancel_tasks",
    "wait_for_event",
]
