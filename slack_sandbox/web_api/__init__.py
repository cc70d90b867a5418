"""The Web API of the local Slack: methods, errors, rate limits and injected faults."""

from .api import WebApi, drop_connection
from .faults import Faults
from .rate_limits import RateLimits
from .uploads import upload_routes

__all__ = ["Faults", "RateLimits", "WebApi", "drop_connection", "upload_routes"]
