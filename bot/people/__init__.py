"""Who people are: `Directory` says who may decide, `Recipients` says who gets a card at a place.

`Lookups` asks one channel, through a `Cache`; `People` says which identities are one human.
"""

from .cache import Cache
from .directory import Directory
from .lookups import MAX_AGE, Lookups
from .people import People
from .people_file import load_people
from .recipients import NoDeciderLeft, Recipients, TooFewDeciders, waiting_actions
from .refusal_sentences import ONLY_MEMBERS

__all__ = [
    "MAX_AGE",
    "ONLY_MEMBERS",
    "Cache",
    "Directory",
    "Lookups",
    "NoDeciderLeft",
    "People",
    "Recipients",
    "TooFewDeciders",
    "load_people",
    "waiting_actions",
]
