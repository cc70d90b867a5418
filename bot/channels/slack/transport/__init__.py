"""The connection to Slack: its Web API, requests over HTTP, Socket Mode, and the check of every payload."""

from .api import Api, Request
from .http import SlackEndpoint
from .moved import MovedConversations
from .own_messages import OwnMessages, message_ref, read_identity
from .people import PeopleLookup
from .socket_mode import open_socket_mode

__all__ = [
    "Api",
    "MovedConversations",
    "OwnMessages",
    "PeopleLookup",
    "Request",
    "SlackEndpoint",
    "message_ref",
    "open_socket_mode",
    "read_identity",
]
