"""The Connector of the local Teams: conversations, activities, members, errors, rate limits."""

from .api import OPERATIONS, PREFIX, ConnectorApi
from .rate_limits import RateLimits

__all__ = ["OPERATIONS", "PREFIX", "ConnectorApi", "RateLimits"]
