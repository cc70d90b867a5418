"""The tenant's data: people, groups, teams, conversations, messages. No HTTP."""

from . import acme as ids
from .acme import CLIENT_ID, DEFAULT_PERMISSIONS, GLOBEX_TENANT, TENANT, acme, acme_app
from .objects import (
    App,
    Conversation,
    ConversationType,
    File,
    Group,
    Message,
    Team,
    User,
    long_id,
)
from .workspace import Workspace

__all__ = [
    "CLIENT_ID",
    "DEFAULT_PERMISSIONS",
    "GLOBEX_TENANT",
    "TENANT",
    "App",
    "Conversation",
    "ConversationType",
    "File",
    "Group",
    "Message",
    "Team",
    "User",
    "Workspace",
    "acme",
    "acme_app",
    "ids",
    "long_id",
]
