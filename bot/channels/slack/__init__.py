"""Slack as a channel: cards become Block Kit messages, clicks become calls to the inbox.

`SlackChannel` is the channel; `Listeners`, `HomeTab` and `Events` register handlers on a Bolt app.
"""

from .channel import SlackChannel
from .handlers import Events, HomeTab, Listeners
from .ids import ModalMeta
from .modals import MODAL_LIMITS, form_view, read_entries
from .render import card_message, view_blocks
from .transport import SlackEndpoint, open_socket_mode

__all__ = [
    "MODAL_LIMITS",
    "Events",
    "HomeTab",
    "Listeners",
    "ModalMeta",
    "SlackChannel",
    "SlackEndpoint",
    "card_message",
    "form_view",
    "open_socket_mode",
    "read_entries",
    "view_blocks",
]
