"""The app's own messages. They are looked up in Graph, because the Connector can only post and change them.

learn.microsoft.com/graph/api/channel-list-messages, chatmessage-list-replies, chat-list-messages,
chatmessage-get
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal, NamedTuple, cast

from hitl_core.model import MessageRef

from ....text import one_line, shorten
from ...contract import (
    LookupFailed,
    MessageFixed,
    MessageGone,
    NotFound,
    RateLimited,
    Undeliverable,
    Unreachable,
)
from ..ids import mark_of
from ..places import is_channel
from .api import Api
from .conversations import Conversations
from .errors import NO_CONVERSATION, Data, read_id

log = logging.getLogger(__name__)

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
    """Methods raise ChannelErrors."""

    def __init__(self, api: Api, conversations: Conversations, client_id: str) -> None:
        self._api, self._conversations, self._client_id = api, conversations, client_id

    async def post(
        self, conversation: str, body: Data, thread: str = "", service_url: str = ""
    ) -> str:
        """The id of the new message. `thread`: the first message of a thread in a channel. `service_url` is
        used if the conversation is not known.
        """
        root = f";messageid={thread}" if thread and is_channel(conversation) else ""
        path = ("conversations", f"{conversation}{root}", "activities")

        async def send(url: str) -> str:
            request = self._api.connector("POST", url, *path, body=body)
            # An answer without an id is no success: Teams has split the message, or did something unknown.
            return await self._api.call_and_read(request, read_id)

        return await self._conversations.use(conversation, send, service_url)

    async def change(self, ref: MessageRef, body: Data, thread: str = "") -> None:
        """Raises MessageGone, also if Teams only refuses it."""
        await self._call("PUT", ref, body, thread)

    async def delete(self, ref: MessageRef, thread: str = "") -> None:
        """A message that is gone, or another bot's, is no error."""
        try:
            await self._call("DELETE", ref, thread=thread)
        except MessageGone:
            pass
        except NotFound as error:
            if error.error not in NO_CONVERSATION:
                raise
            log.warning("the message %s can't be deleted, so it stays: %s", ref.ts, error)

    async def _call(
        self,
        verb: Literal["PUT", "DELETE"],
        ref: MessageRef,
        body: Data | None = None,
        thread: str = "",
    ) -> None:
        """Teams does not document which error says that a message was deleted, or is another bot's. For a
        deleted one it has answered 403 (https://github.com/microsoft/BotFramework-Services/issues/269).
        """
        path = ("conversations", ref.conversation, "activities", ref.ts)

        async def call(url: str) -> None:
            await self._api.call(self._api.connector(verb, url, *path, body=body))

        await self._conversations.references.refresh()
        try:
            await self._conversations.use(ref.conversation, call, ref.service_url)
        except Undeliverable as error:
            if not isinstance(error, NotFound | MessageGone):
                await self._check(ref, thread)
            raise

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
            # Graph gives the newest first, by creation or by change. A page may be empty before the last one
            # (learn.microsoft.com/graph/paging), and says nothing about the next.
            is_enough=lambda page: bool(page) and all(one.changed < since for one in page),
        )
        found = [one for one in listed if one.mark == mark and one.created >= since]
        return [one.id for one in sorted(found, key=lambda one: (one.created, one.id))]

    async def _check(self, ref: MessageRef, thread: str) -> None:
        """Look at a message that Teams refuses to change. Raises MessageGone if it was deleted, and
        MessageFixed if another app posted it, for example a former registration of this bot. If that is
        unknown, it raises nothing: the problem of a failed look-up is reported.
        """
        with suppress(LookupFailed, NotFound, RateLimited, Unreachable):
            known = self._conversations.references.get(ref.conversation)
            path, needed = await self._path(ref.conversation, thread, known.person if known else "")
            request = self._api.graph(*path, ref.ts, needed=needed, about=ref.conversation)
            is_deleted, is_ours = await self._api.look_up(request, self._state, _NO_MESSAGE)
            if is_deleted:
                raise MessageGone(f"the message {ref.ts} was deleted")
            if not is_ours:
                raise MessageFixed(f"the message {ref.ts} is another app's")

    async def _path(self, conversation: str, thread: str, person: str) -> tuple[list[str], str]:
        """The path of the conversation's or the thread's messages, and the permission to read them."""
        if person:
            conversation = f"19:{person}_{self._client_id}@unq.gbl.spaces"
        elif (team := await self._conversations.team_channels.find_team(conversation)) is not None:
            path = ["teams", team.group, "channels", conversation, "messages"]
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
