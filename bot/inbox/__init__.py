"""Applies what people do to reviews, and says what they may see. Knows no chat system.

Start with `Inbox`.
"""

from .access import ReviewAccess
from .commands import RESULT_UNKNOWN, STORE_UNAVAILABLE, ActionRef, ReadRequired, Reply
from .homes import KEEP_FOR, Home, HomeLine, HomeLoader, HomeTask
from .inbox import Inbox

__all__ = [
    "KEEP_FOR",
    "RESULT_UNKNOWN",
    "STORE_UNAVAILABLE",
    "ActionRef",
    "Home",
    "HomeLine",
    "HomeLoader",
    "HomeTask",
    "Inbox",
    "ReadRequired",
    "Reply",
    "ReviewAccess",
]
