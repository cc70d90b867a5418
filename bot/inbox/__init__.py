"""Applies what people do to reviews, and says what they may see. Knows no chat system.

Start with `Inbox`: a command of a person → a reply.
"""

from . import sentences
from .access import ReviewAccess
from .commands import ActionRef, Choose, InboxCommand
from .home import Home, HomeLine, HomeTask
from .home_views import KEEP_FOR, HomeView
from .homes import HomeLoader
from .inbox import Inbox
from .permitted import PermittedSnapshot
from .reply import FIXABLE_CODES, RESULT_UNKNOWN, STORE_UNAVAILABLE, ReadRequired, Reply

__all__ = [
    "FIXABLE_CODES",
    "KEEP_FOR",
    "RESULT_UNKNOWN",
    "STORE_UNAVAILABLE",
    "ActionRef",
    "Choose",
    "Home",
    "HomeLine",
    "HomeLoader",
    "HomeTask",
    "HomeView",
    "Inbox",
    "InboxCommand",
    "PermittedSnapshot",
    "ReadRequired",
    "Reply",
    "ReviewAccess",
    "sentences",
]
