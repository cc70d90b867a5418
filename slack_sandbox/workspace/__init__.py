"""The workspace's data: people, channels, messages, modals. No HTTP."""

from . import persistence
from .acme import AGENT, AGENT_BOT, AGENT_NAME, ASK_CHANNEL, DEFAULT_SCOPES, acme, acme_app
from .message import (
    MAX_UPDATE_TEXT,
    NO_TEXT,
    escape_text,
    to_slack_message,
    validate_blocks,
    validate_metadata,
)
from .modals import Modals
from .objects import App, Channel, Ephemeral, Group, Message, User
from .view_validation import validate_view
from .workspace import Workspace

__all__ = [
    "AGENT",
    "AGENT_BOT",
    "AGENT_NAME",
    "ASK_CHANNEL",
    "DEFAULT_SCOPES",
    "MAX_UPDATE_TEXT",
    "NO_TEXT",
    "App",
    "Channel",
    "Ephemeral",
    "Group",
    "Message",
    "Modals",
    "User",
    "Workspace",
    "acme",
    "acme_app",
    "escape_text",
    "persistence",
    "to_slack_message",
    "validate_blocks",
    "validate_metadata",
    "validate_view",
]
