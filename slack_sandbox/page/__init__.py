"""The web page of the local Slack, and its API."""

from .hosts import require_local_host
from .page_api import PageApi

__all__ = ["PageApi", "require_local_host"]
