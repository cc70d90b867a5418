"""Shows reviews: queued changes → posted and updated cards; also timers and open Homes. The bot's background
half, which `Workers` runs.
"""

from .delivery import Delivery
from .escalator import INTERVAL, Escalator
from .home_refresher import HomeRefresher
from .lane import LANE_LEASE, LATE_WINDOW
from .outbox import MESSAGE_INTERVAL, REQUEUE_INTERVAL, Outbox
from .workers import Worker, Workers

__all__ = [
    "INTERVAL",
    "LANE_LEASE",
    "LATE_WINDOW",
    "MESSAGE_INTERVAL",
    "REQUEUE_INTERVAL",
    "Delivery",
    "Escalator",
    "HomeRefresher",
    "Outbox",
    "Worker",
    "Workers",
]
