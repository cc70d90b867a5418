"""Shows reviews: queued changes → posted and updated cards; also timers and open Homes. The bot's background
half, which `Workers` runs.
"""

from .decider_check import DeciderCheck
from .delivery import Delivery
from .digests import DigestMaker
from .due_timers import TIMERS_INTERVAL, DueTimers
from .lane import LANE_LEASE, LATE_WINDOW, Lane
from .outbox import REQUEUE_INTERVAL, Outbox
from .workers import HomeRefresher, PublishHome, Worker, Workers

__all__ = [
    "LANE_LEASE",
    "LATE_WINDOW",
    "REQUEUE_INTERVAL",
    "TIMERS_INTERVAL",
    "DeciderCheck",
    "Delivery",
    "DigestMaker",
    "DueTimers",
    "HomeRefresher",
    "Lane",
    "Outbox",
    "PublishHome",
    "Worker",
    "Workers",
]
