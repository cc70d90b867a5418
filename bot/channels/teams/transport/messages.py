"""Finds the app's own messages in Graph, because the Connector has no search.

learn.microsoft.com/graph/api/channel-list-messages, chatmessage-list-replies, chat-list-messages,
chatmessage-get
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, cast

from ....text import one_line, shorten
from ...contract import (
    LookupFailed,
    MessageFixed,
    MessageGone,
    NotFound,
    RateLimited,
    Unreachable,
)
from ..ids import mark_of
from ..places import is_channel
from .api import Api
from .errors import Data
from .team_channels import TeamChannels

#: How many messages one page has. It is the most that Graph gives.
_PAGE = 50
_CARD = "application/vnd.microsoft.card.adaptive"
#: The longest summary of a message in a notification.
MAX_SUMMARY = 200
#: The permissions with which the app can read messages where it is installed (resource-specific consent).
_CHANNELS, _CHATS = "ChannelMessage.Read.Group", "ChatMessage.Read.Chat"
#: The order in which Graph lists a chat; it knows only one for a channel.
_BY_CREATION = "&$orderby=createdDateTime%20desc"
_NO_MESSAGE = {"NotFound": "there is no such message"}


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
        path, needed = await self._path(conversation, thread, person)
        query = f"$top={_PAGE}{_BY_CREATION * (needed == _CHATS)}"
        request = self._api.graph(*path, query=query, needed=needed, about=conversation)
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

    async def check(self, conversation: str, id: str, thread: str, person: str) -> None:
        """Look at a message that Teams refuses to change. Raises MessageGone if it was deleted, and
        MessageFixed if another app posted it, for example a former registration of this bot. If that is
        unknown, it raises nothing: the problem of a failed look-up is reported.
        """
        with suppress(LookupFailed, NotFound, RateLimited, Unreachable):
            path, needed = await self._path(conversation, thread, person)
            request = self._api.graph(*path, id, needed=needed, about=conversation)
            is_deleted, is_ours = await self._api.look_up(request, self._state, _NO_MESSAGE)
            if is_deleted:
                raise MessageGone(f"the message {id} in {conversation} was deleted")
            if not is_ours:
                raise MessageFixed(f"the message {id} in {conversation} is another app's")

    async def _path(self, conversation: str, thread: str, person: str) -> tuple[list[str], str]:
        """The path of the conversation's or the thread's messages, and the permission to read them."""
        if person:
            conversation = f"19:{person}_{self._client_id}@unq.gbl.spaces"
        elif (channel := await self._channels.find(conversation)) is not None:
            path = ["teams", channel.team.group, "channels", conversation, "messages"]
            return path + ([thread, "replies"] if thread else []), _CHANNELS
        elif is_channel(conversation):
            raise LookupFailed(f"the team of the channel {conversation} is not known")
        return ["chats", conversation, "messages"], _CHATS

    def _state(self, message: Data) -> tuple[bool, bool]:
        """Whether it was deleted, and whether it is ours."""
        return message["deletedDateTime"] is not None, self._is_ours(message)

    def _read(self, message: Data) -> Listed:
        created, changed = message["createdDateTime"], message["lastModifiedDateTime"]
        mark = self._mark(message) if message["deletedDateTime"] is None else ""
        return Listed(str(message["id"]), _seconds(created), _seconds(changed or created), mark)

    def _mark(self, message: Data) -> str:
        if not self._is_ours(message):
            return ""
        marks = [
            mark_of(_card(one)) for one in message["attachments"] if one["contentType"] == _CARD
        ]
        return next(filter(None, marks), "")

    def _is_ours(self, message: Data) -> bool:
        sender: Data = message.get("from") or {}
        application: Data = sender.get("application") or {}
        return application.get("id") == self._client_id


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
