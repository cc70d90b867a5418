"""The app's manifest: what Teams must know of the bot, and what it may do. Pure.

learn.microsoft.com/microsoftteams/platform/resources/schema/manifest-schema
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .icons import ACCENT

#: Of Microsoft's schema.
SCHEMA_VERSION = "1.19"
SCOPES = ["personal", "team", "groupChat"]
COMMANDS = {
    "approvals": "Shows what waits for your decision.",
    "help": "Says what the bot can do.",
}
#: What the bot may read in a team or chat to which it was added: there it looks for a card of its own after a
#: post got no answer, so that nobody gets two.
RESOURCE_PERMISSIONS = ["ChannelMessage.Read.Group", "ChatMessage.Read.Chat"]


@dataclass(frozen=True)
class App:
    """What differs between installs. The bot answers Teams at `host`; `website` is a page about the app."""

    client_id: str
    host: str
    website: str
    name: str = "Approver"
    version: str = "1.0.0"


def make_manifest(app: App) -> dict[str, Any]:
    """The content of manifest.json."""
    base = "https://developer.microsoft.com/json-schemas/teams"
    return {
        "$schema": f"{base}/v{SCHEMA_VERSION}/MicrosoftTeams.schema.json",
        "manifestVersion": SCHEMA_VERSION,
        "version": app.version,
        "id": app.client_id,
        "developer": {
            "name": app.name,
            "websiteUrl": app.website,
            "privacyUrl": app.website,
            "termsOfUseUrl": app.website,
        },
        "name": {"short": app.name, "full": f"{app.name}: approval of agents' tool calls"},
        "description": {
            "short": "Asks people before an AI agent's tool call runs.",
            "full": "Shows what an AI agent wants to do, with all of its arguments. People approve, edit "
            "or reject each call, and the agent continues with exactly that decision. Write `approvals` "
            "to the bot to see what waits for you.",
        },
        "icons": {"color": "color.png", "outline": "outline.png"},
        "accentColor": "#{:02X}{:02X}{:02X}".format(*ACCENT),
        "bots": [_bot(app)],
        "permissions": ["identity", "messageTeamMembers"],
        "validDomains": [app.host],
        "webApplicationInfo": {"id": app.client_id, "resource": f"api://{app.client_id}"},
        "authorization": {
            "permissions": {
                "resourceSpecific": [
                    {"name": name, "type": "Application"} for name in RESOURCE_PERMISSIONS
                ]
            }
        },
    }


def _bot(app: App) -> dict[str, Any]:
    commands = [{"title": title, "description": text} for title, text in COMMANDS.items()]
    return {
        "botId": app.client_id,
        "scopes": SCOPES,
        "isNotificationOnly": False,
        "supportsFiles": True,
        "commandLists": [{"scopes": SCOPES, "commands": commands}],
    }
