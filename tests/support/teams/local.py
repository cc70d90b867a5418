"""The local Teams for tests: the bot's credentials, and what Teams sends when the app is installed."""

from __future__ import annotations

import json

from bot.channels.teams import Credentials
from bot.channels.teams.channel import TeamsChannel
from bot.channels.teams.transport.requests import Activity, parse_activity
from bot.health import Health
from hitl_core.store import Store
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import Conversation

#: The seconds for one call: long, because the test machine may be busy.
TIMEOUT = 60.0


def credentials(sandbox: Sandbox, secret: str = "") -> Credentials:
    app = sandbox.app
    return Credentials(
        app.client_id, sandbox.workspace.tenant_id, secret=secret or app.client_secret
    )


def make_channel(sandbox: Sandbox, store: Store, default: str = "") -> TeamsChannel:
    """The caller must start and close the channel."""
    return TeamsChannel(
        credentials(sandbox), store, Health(), default, cloud_url=sandbox.url, timeout=TIMEOUT
    )


def installation(sandbox: Sandbox, conversation: Conversation) -> Activity:
    """The update that Teams sends for a conversation in which the app is installed."""
    workspace, team = sandbox.workspace, conversation.team
    person = workspace.person(conversation.members[0]) if conversation.type == "personal" else None
    data = {"tenant": {"id": workspace.tenant_id}}
    if team is not None:
        data["team"] = {"id": team.id, "name": team.name, "aadGroupId": team.group_id}
    sender = {"id": person.mri, "aadObjectId": person.id} if person else {"id": workspace.app.mri}
    activity = {
        "type": "conversationUpdate",
        "id": "f:1",
        "channelId": "msteams",
        "serviceUrl": sandbox.service_url,
        "from": sender,
        "recipient": {"id": workspace.app.mri},
        "conversation": {
            "id": conversation.id,
            "conversationType": conversation.type,
            "tenantId": workspace.tenant_id,
        },
        "channelData": data,
    }
    return parse_activity(json.dumps(activity).encode())


async def install_everywhere(sandbox: Sandbox, channel: TeamsChannel) -> None:
    """As if the channel had received all installations in teams and group chats."""
    for one in list(sandbox.workspace.conversations.values()):
        in_team = one.team is not None and one.is_general and one.team.installed
        if in_team or (one.type == "groupChat" and one.installed):
            await channel.record(installation(sandbox, one))
