"""Who people are: `Directory` says who may decide, `Recipients` says who gets a card at a place.

Look-ups go through the channel and a `Cache`.
"""

from .cache import Cache
from .directory import MAX_AGE, ONLY_MEMBERS, Directory
from .recipients import NoDeciderLeft, Recipients, TooFewDeciders, waiting_actions

__all__ = [
    "MAX_AGE",
    "ONLY_MEMBERS",
    "Cache",
    "Directory",
    "NoDeciderLeft",
    "Recipients",
    "TooFewDeciders",
    "waiting_actions",
]
