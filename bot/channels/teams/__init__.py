"""Microsoft Teams as a channel. `channel` draws with `render` and talks with Teams through `transport`.
Requests arrive at `TeamsEndpoint`, and `Guard` checks them.
"""

from .channel import TeamsChannel
from .connection import open_channel, open_teams
from .ids import ButtonKey
from .places import LABEL
from .render import card_message
from .transport import Credentials

__all__ = [
    "LABEL",
    "ButtonKey",
    "Credentials",
    "TeamsChannel",
    "card_message",
    "open_channel",
    "open_teams",
]
