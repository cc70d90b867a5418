"""Microsoft Teams. `channel` draws with `render` and talks with Teams by `transport`. Requests come in by
`TeamsEndpoint`, checked by `Guard`.
"""

from .channel import TeamsChannel
from .connection import open_channel, open_teams
from .places import LABEL
from .transport import Credentials

__all__ = ["LABEL", "Credentials", "TeamsChannel", "open_channel", "open_teams"]
