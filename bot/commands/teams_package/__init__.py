"""The app that an administrator uploads to Teams, as a zip file: `hitl teams-package` writes it."""

from .command import add_to

__all__ = ["add_to"]
