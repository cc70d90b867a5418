"""Microsoft Graph of the local Teams: people, groups, and messages, each with its permission."""

from .api import OPERATIONS, GraphApi

__all__ = ["OPERATIONS", "GraphApi"]
