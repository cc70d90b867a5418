"""What the local Slack sends to the app: events, over HTTP or Socket Mode."""

from .app_client import Answer, AppClient
from .events import Events
from .payloads import Payloads, sign
from .socket_mode import SocketMode

__all__ = ["Answer", "AppClient", "Events", "Payloads", "SocketMode", "sign"]
