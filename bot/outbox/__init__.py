"""Shows reviews: posts and updates cards for queued changes, applies timers, and updates open Homes. It is
the background half of the bot, which `Workers` runs.
"""

from .delivery import Delivery
from .digests import DigestMaker
from .due_timers import TIMERS_INTERVAL, DueTimers
from .home_refresher import HomeRefresher, PublishHome
from .lane import LANE_LEASE, LATE_WINDOW, Lane
from .outbox import REQUEUE_INTERVAL, Outbox
from .review_check import ReviewCheck
from .workers import Worker, Workers

__all__ = [
    "LANE_LEASE",
    "LATE_WINDOW",
    "REQUEUE_INTERVAL",
    "TIMERS_INTERVAL",
    "Delivery",
    "DigestMaker",
    "DueTimers",
    "HomeRefresher",
    "Lane",
    "Outbox",
    "PublishHome",
    "ReviewCheck",
    "Worker",
    "Workers",
]
