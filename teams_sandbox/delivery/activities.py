"""The activities that Teams sends to a bot, in their real shapes.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/subscribe-to-conversation-events
https://learn.microsoft.com/adaptive-cards/authoring-cards/universal-action-model
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from ..json_checks import Json
from ..workspace import Conversation, Message, Team, User, Workspace


class Activities:
    """Each method returns a new activity with a new id."""

    def __init__(self, workspace: Workspace, service_url: Callable[[], str]) -> None:
        self._workspace, self._service_url = workspace, service_url

    def message(self, user: User, conversation: Conversation, message: Message) -> Json:
        """A message of a person. A mention of the bot is in the text and in the entities."""
        activity = self._base("message", user, conversation, message.root, message.id)
        activity |= {"text": message.text, "textFormat": "plain", "attachments": []}
        activity["entities"] = [*activity["entities"], *message.entities]
        return _copy(activity)

    def press(
        self,
        user: User,
        conversation: Conversation,
        message: Message,
        action: Json,
        data: Json,
        trigger: Literal["manual", "automatic"] = "manual",
    ) -> Json:
        """A press of an Action.Execute: the data of the action, with the inputs."""
        activity = self._base("invoke", user, conversation, message.root)
        given: Json = {"type": action["type"], "title": action.get("title"), "data": data}
        given |= {name: action[name] for name in ("id", "verb") if name in action}
        source: Json = {"name": "message"}
        channel_data: Json = {**activity["channelData"], "source": source}
        return _copy(
            activity
            | {
                "name": "adaptiveCard/action",
                "replyToId": message.id,
                "value": {"action": given, "trigger": trigger},
                "channelData": channel_data | {"legacy": {"replyToId": message.legacy_id}},
            }
        )

    def file_consent(
        self, user: User, conversation: Conversation, message: Message, value: Json
    ) -> Json:
        """The answer to a bot that asked to send a file."""
        activity = self._base("invoke", user, conversation)
        channel_data: Json = {**activity["channelData"], "legacy": {"replyToId": message.legacy_id}}
        named = {"name": "fileConsent/invoke", "replyToId": message.id, "value": value}
        return _copy(activity | named | {"channelData": channel_data})

    def installation(
        self, user: User, conversation: Conversation, action: Literal["add", "remove"]
    ) -> Json:
        """The app was added to, or removed from, a team (`conversation` is General), a chat, or a person."""
        activity = self._base("installationUpdate", user, conversation)
        if conversation.team:
            selected = {"selectedChannel": {"id": conversation.id}}
            activity["channelData"] |= {"settings": selected, "source": {"name": "message"}}
        return _copy(activity | {"action": action})

    def members_changed(
        self,
        user: User,
        conversation: Conversation,
        change: Literal["membersAdded", "membersRemoved"],
        members: Sequence[User | None],
    ) -> Json:
        """People or the bot (None) were added or removed. `user`: the person who did it."""
        activity = self._base("conversationUpdate", user, conversation)
        if conversation.team:
            event = "teamMemberAdded" if change == "membersAdded" else "teamMemberRemoved"
            activity["channelData"]["eventType"] = event
        accounts = [
            {"id": one.mri, "aadObjectId": one.id} if one else {"id": self._workspace.app.mri}
            for one in members
        ]
        return _copy(activity | {change: accounts})

    def team_event(self, user: User, conversation: Conversation, event: str) -> Json:
        """An event of a team or a channel: teamRenamed, teamArchived, channelCreated, channelDeleted, …"""
        activity = self._base("conversationUpdate", user, conversation)
        activity["channelData"]["eventType"] = event
        return _copy(activity)

    def _base(
        self,
        kind: str,
        user: User,
        conversation: Conversation,
        root: str | None = None,
        activity_id: str | None = None,
    ) -> Json:
        workspace = self._workspace
        moment = datetime.fromtimestamp(workspace.now(), UTC).isoformat(timespec="milliseconds")
        thread = f";messageid={root}" if root else ""
        where: Json = {
            "id": conversation.id + thread,
            "conversationType": conversation.type,
            "tenantId": workspace.tenant_id,
        }
        if conversation.type != "personal":
            where["isGroup"] = True
        if conversation.type == "channel" and not conversation.is_general:
            where["name"] = conversation.name
        return {
            "type": kind,
            "id": activity_id or f"f:{uuid4()}",
            "timestamp": moment.replace("+00:00", "Z"),
            "channelId": "msteams",
            "serviceUrl": self._service_url(),
            "from": {"id": user.mri, "name": user.display_name, "aadObjectId": user.id},
            "recipient": {"id": workspace.app.mri, "name": workspace.app.name},
            "conversation": where,
            "locale": "en-US",
            "entities": [
                {"type": "clientInfo", "locale": "en-US", "country": "US", "platform": "Web"}
            ],
            "channelData": self._channel_data(conversation),
        }

    def _channel_data(self, conversation: Conversation) -> Json:
        data: Json = {"tenant": {"id": self._workspace.tenant_id}}
        if conversation.team:
            channel: Json = {"id": conversation.id}
            if not conversation.is_general:
                channel["name"] = conversation.name
            data |= {"channel": channel, "team": _team_info(conversation.team)}
        return data


def _team_info(team: Team) -> Json:
    return {"id": team.id, "name": team.name, "aadGroupId": team.group_id}


def _copy(activity: Json) -> Any:
    """A copy: later changes of the workspace must not change it."""
    return json.loads(json.dumps(activity))
