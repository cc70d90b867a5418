"""Applies what people do to reviews, and says what they may see. Knows no chat system.

Start with `Inbox`: a command of a person → a reply.
"""

from .access import ReviewAccess
from .home import KEEP_FOR, Home, HomeLine, HomeTask, HomeView
from .homes import HomeLoader
from .inbox import Inbox
from .press import UNREADABLE_BUTTON, ActionRef, Choose, InboxCommand, Press
from .reader import ActionPage, ArgumentsPage, Reader, action_page, arguments_page, to_text
from .reply import (
    ESCALATE_ON_CARD,
    FIXABLE_CODES,
    RESULT_UNKNOWN,
    STORE_UNAVAILABLE,
    PermittedSnapshot,
    ReadRequired,
    Reply,
    file_posted,
    file_refused,
    file_too_slow,
    form_not_opened,
    list_error,
)

__all__ = [
    "ESCALATE_ON_CARD",
    "FIXABLE_CODES",
    "KEEP_FOR",
    "RESULT_UNKNOWN",
    "STORE_UNAVAILABLE",
    "UNREADABLE_BUTTON",
    "ActionPage",
    "ActionRef",
    "ArgumentsPage",
    "Choose",
    "Home",
    "HomeLine",
    "HomeLoader",
    "HomeTask",
    "HomeView",
    "Inbox",
    "InboxCommand",
    "PermittedSnapshot",
    "Press",
    "ReadRequired",
    "Reader",
    "Reply",
    "ReviewAccess",
    "action_page",
    "arguments_page",
    "file_posted",
    "file_refused",
    "file_too_slow",
    "form_not_opened",
    "list_error",
    "to_text",
]
