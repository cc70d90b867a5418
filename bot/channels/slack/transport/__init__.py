"""The connection to Slack: its Web API, requests over HTTP, Socket Mode, and the check of every payload."""

from .api import Api, Request
from .http import SlackEndpoint
from .own_messages import OwnMessages, message_ref
from .people import PeopleLookup
from .socket_mode import open_socket_mode

__all__ = [
    "Api",
    "OwnMessages",
    "PeopleLookup",
    "Request",
    "SlackEndpoint",
    "message_ref",
    "open_socket_mode",
]
