"""Finds the app's own messages in Graph, because the Connector has no search.

learn.microsoft.com/graph/api/channel-list-messages, chatmessage-list-replies, chat-list-messages
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

from ....text import one_line, shorten
from ...contract import LookupFailed
from ..ids import mark_of
from ..places import is_channel
from .api import Api, Request
from .errors import Data
from .team_channels import TeamChannels

#: How many messages one page has. It is the most that Graph gives.
_PAGE = 50
_CARD = "application/vnd.microsoft.card.adaptive"
#: The longest summary of a message in a notification.
MAX_SUMMARY = 200
#: The permissions with which the app can read messages where it is installed (resource-specific consent).
_CHANNELS, _CHATS = "ChannelMessage.Read.Group", "ChatMessage.Read.Chat"


class Listed(NamedTuple):
    """A message in Graph. `mark` is that of our own card; "" for any other message."""

    id: str
    created: float
    changed: float
    mark: str


class OwnMessages:
    def __init__(self, api: Api, channels: TeamChannels, client_id: str) -> None:
        self._api, self._channels, self._client_id = api, channels, client_id

    async def find(
        self, conversation: str, thread: str, person: str, mark: str, since: float
    ) -> list[str]:
        """The ids of the messages with this mark since then, oldest first. They are the same ids as in the
        Connector, also in personal chats (https://github.com/MicrosoftDocs/msteams-docs/issues/6139).
        `person`: whose personal chat it is. Waits when the rate is limited. Raises LookupFailed, also if the
        permission is missing.
        """
        request = await self._request(conversation, thread, person)
        listed = await self._api.look_up_all(
            request,
            "value",
            self._read,
            waits_for_limit=True,
            # Graph gives the newest first, by creation or by change.
            is_enough=lambda page: all(one.changed < since for one in page),
        )
        found = [one for one in listed if one.mark == mark and one.created >= since]
        return [one.id for one in sorted(found, key=lambda one: (one.created, one.id))]

    async def _request(self, conversation: str, thread: str, person: str) -> Request:
        if person:
            conversation = f"19:{person}_{self._client_id}@unq.gbl.spaces"
        elif (channel := await self._channels.find(conversation)) is not None:
            path = ["teams", channel.team.group, "channels", conversation, "messages"]
            path += [thread, "replies"] if thread else []
            return self._api.graph(
                *path, query=f"$top={_PAGE}", needed=_CHANNELS, about=conversation
            )
        elif is_channel(conversation):
            raise LookupFailed(f"the team of the channel {conversation} is not known")
        return self._api.graph(
            "chats",
            conversation,
            "messages",
            query=f"$top={_PAGE}&$orderby=createdDateTime%20desc",
            needed=_CHATS,
            about=conversation,
        )

    def _read(self, message: Data) -> Listed:
        created, changed = message["createdDateTime"], message["lastModifiedDateTime"]
        mark = self._mark(message) if message["deletedDateTime"] is None else ""
        return Listed(str(message["id"]), _seconds(created), _seconds(changed or created), mark)

    def _mark(self, message: Data) -> str:
        sender: Data = message.get("from") or {}
        application: Data = sender.get("application") or {}
        if application.get("id") != self._client_id:
            return ""
        marks = [
            mark_of(_card(one)) for one in message["attachments"] if one["contentType"] == _CARD
        ]
        return next(filter(None, marks), "")


def card_activity(card: Data, summary: str) -> Data:
    """A message with one card and no text: Teams splits a message with both, and gives no id.
    `summary` is for notifications.
    """
    return {
        "type": "message",
        "summary": shorten(one_line(summary), MAX_SUMMARY),
        "attachments": [{"contentType": _CARD, "content": card}],
    }


def _card(attachment: Mapping[str, Any]) -> Mapping[str, object]:
    """The card of an attachment. Graph gives it as a text."""
    content = json.loads(attachment["content"])
    return cast("Mapping[str, object]", content) if isinstance(content, dict) else {}


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
