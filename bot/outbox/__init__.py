"""Shows reviews: posts and updates cards for queued changes, applies timers, and updates open Homes. It is
the background half of the bot, which `Workers` runs.
"""

from .decider_check import DeciderCheck
from .delivery import Delivery
from .digests import DigestMaker
from .due_timers import TIMERS_INTERVAL, DueTimers
from .home_refresher import HomeRefresher, PublishHome
from .lane import LANE_LEASE, LATE_WINDOW, Lane
from .outbox import REQUEUE_INTERVAL, Outbox
from .workers import Worker, Workers

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
