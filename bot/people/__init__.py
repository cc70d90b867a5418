"""People and permissions: `Directory` checks who may decide, `Recipients` finds who gets a card at a place.

`Lookups` asks one channel, through a `Cache`. `People` knows which identities are one human.
"""

from .directory import Directory
from .humans import People, load_people
from .lookups import MAX_AGE, Cache, Lookups
from .recipients import NoDeciderLeft, Recipients, TooFewDeciders

__all__ = [
    "MAX_AGE",
    "Cache",
    "Directory",
    "Lookups",
    "NoDeciderLeft",
    "People",
    "Recipients",
    "TooFewDeciders",
    "load_people",
]
