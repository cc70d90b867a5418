"""Waits for decisions: which process claims a settled review, and how it hears of it."""

from hitl_core.gate.waiting.listener import HEARTBEAT_TTL, ReviewListener, Watchers, cancel_tasks
from hitl_core.gate.waiting.waiter import Waiter

__all__ = ["HEARTBEAT_TTL", "ReviewListener", "Waiter", "Watchers", "cancel_tasks"]
