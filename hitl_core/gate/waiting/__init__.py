"""Waits for decisions: which process claims a settled review, and how it hears of it."""

from hitl_core.gate.waiting.listener import HEARTBEAT_TTL, ReviewListener
from hitl_core.gate.waiting.waiter import Waiter
from hitl_core.gate.waiting.watchers import Watchers, cancel_tasks

__all__ = ["HEARTBEAT_TTL", "ReviewListener", "Waiter", "Watchers", "cancel_tasks"]
