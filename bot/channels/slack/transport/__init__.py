"""The connection to Slack: its Web API, requests over HTTP, Socket Mode, and the check of every payload."""

from .api import Api
from .http import SlackEndpoint
from .people import PeopleLookup
from .slack_errors import NO_PLACE
from .socket_mode import open_socket_mode

__all__ = [
    "NO_PLACE",
    "Api",
    "PeopleLookup",
    "SlackEndpoint",
    "open_socket_mode",
]
