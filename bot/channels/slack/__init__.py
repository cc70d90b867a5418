"""Slack as a channel: cards become Block Kit messages, clicks become calls to the inbox.

`open_slack` connects the bot with a workspace; `make_channel` is enough for look-ups.
"""

from .channel import SlackChannel
from .connection import make_channel, open_slack
from .handlers import HomeTab, Listeners
from .ids import ModalMeta
from .modals import MODAL_LIMITS, form_view, read_entries
from .render import card_message, view_blocks

__all__ = [
    "MODAL_LIMITS",
    "HomeTab",
    "Listeners",
    "ModalMeta",
    "SlackChannel",
    "card_message",
    "form_view",
    "make_channel",
    "open_slack",
    "read_entries",
    "view_blocks",
]
