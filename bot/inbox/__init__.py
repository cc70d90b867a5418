"""Applies what people do to reviews, and decides what they may see. Knows no chat system.

Start with `Inbox`: a person's command → a reply.
"""

from .access import ReviewAccess
from .digest_card import draw_digest
from .home import KEEP_FOR, Home, HomeLine, HomeLoader, HomeTask, HomeView, offload_home
from .inbox import Inbox
from .open_views import OpenViews
from .press import ActionRef, Choose, InboxCommand, Press
from .reading import (
    ActionPage,
    ArgumentsPage,
    PartDrawing,
    Reader,
    action_page,
    arguments_page,
    split_parts,
    to_text,
)
from .reply import (
    FIXABLE_CODES,
    STALE_CODES,
    PermittedSnapshot,
    ReadRequired,
    Reply,
    file_posted,
    list_error,
)
from .store_timeout import store_timeout

__all__ = [
    "FIXABLE_CODES",
    "KEEP_FOR",
    "STALE_CODES",
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
    "OpenViews",
    "PartDrawing",
    "PermittedSnapshot",
    "Press",
    "ReadRequired",
    "Reader",
    "Reply",
    "ReviewAccess",
    "action_page",
    "arguments_page",
    "draw_digest",
    "file_posted",
    "list_error",
    "offload_home",
    "split_parts",
    "store_timeout",
    "to_text",
]
