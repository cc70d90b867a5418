"""Looks up conversations: the id, the size and the name of a place.

Only the list of conversations, and the events about them, decide which channel a `#name` is. The names of
people and groups are stored separately and only displayed, because anybody can take a name that looks like a
channel's.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar, assert_never

from hitl_core.model import DEFAULT_PLACE, Place

from ...answers import Data, read_field, read_object
from ...contract import Audience, ChannelError, NotFound
from ..places import CHANNEL_ID, CONVERSATION_ID, Destination, parse_place
from .api import Api, Request

T = TypeVar("T")

#: How long the list of channel names is used, and the shortest time between two look-ups. In seconds.
_MAX_AGE = 600.0
_RETRY_AFTER = 2.0
#: A name that leads to a conversation which the bot can't use is looked up again if the list is older than
#: this, in seconds: the channel may have been deleted and created again.
_DOUBT_AFTER = 30.0
#: With these errors it is certain that the conversation does not exist for the bot
#: (docs.slack.dev/reference/methods/conversations.info, conversations.open).
_NO_CONVERSATION = {"channel_not_found": "the bot can't see this channel"}
_NO_DIRECT_MESSAGE = {
    "cannot_dm_bot": "this is a bot",
    "messages_tab_disabled": "direct messages to the app are off",
    "user_disabled": "this person has left",
    "user_not_found": "there is no such person",
}


class Conversations:
    """`default`: the channel for cards whose rule names no place, as `#name` or an id."""

    def __init__(self, api: Api, default: str) -> None:
        self._api, self.default = api, default
        #: Channel names by id: the last list, with the changes by later events.
        self._channel_names: dict[str, str] = {}
        self._names_from_events: dict[str, str] = {}
        self._listed_at = self._doubted_at = float("-inf")
        #: Names of people and groups by id.
        self._labels: dict[str, str] = {}
        self._direct_ids: dict[str, str] = {}

    def destination(self, place: Place) -> Destination:
        return parse_place(place, self.default)

    def audience(self, place: Place) -> Audience:
        return self.destination(place).audience

    def name_of(self, place: Place) -> str:
        kind, target = self.audience(place)
        if kind == "conversation":
            known = self._channel_names.get(target, target)  # from before it got its current id
            return self._channel_names.get(self._api.moved.current(target), known)
        return self._labels.get(target, target)

    def set_channel_name(self, id: str, name: str) -> None:
        """Record that `#name` is this channel now. Ids that are not a channel's are ignored."""
        if CHANNEL_ID.fullmatch(id):
            self._channel_names[id] = self._names_from_events[id] = f"#{name}"

    def rename_channel(self, id: str, name: str) -> None:
        """Record what an event said. A channel that our own list doesn't have may be another workspace's, so
        the list is loaded again when a name is needed.
        """
        first = self._api.moved.first(id)
        if id != first and first in self._channel_names:
            self._channel_names[id] = self._channel_names.pop(first)
        if id in self._channel_names:
            self.set_channel_name(id, name)
        else:
            self._doubted_at = time.monotonic()

    def set_label(self, id: str, label: str) -> None:
        """Set the displayed name of a person or a group."""
        self._labels[id] = label

    async def conversation_id(self, place: Place) -> str:
        """The id of a place's conversation. Raises NotFound if the bot can't see one, and LookupFailed,
        RateLimited or Unreachable if Slack gives no answer.
        """
        audience = self.audience(place)
        match audience.kind:
            case "person":
                return await self._open_direct_message(audience.id)
            case "group":
                raise NotFound(f"{audience.id} is a group: each of its members gets an own message")
            case "conversation":
                return await self._find_conversation(audience.id)
        assert_never(audience.kind)

    async def use(self, place: Place, call: Callable[[str], Awaitable[T]]) -> T:
        """`call` with the id of the place's conversation. If it raises NotFound, and a newer list of names
        has another conversation for the place, once more with that.
        """
        conversation = await self.conversation_id(place)
        try:
            return await call(conversation)
        except NotFound:
            is_name = self.audience(place).id.startswith("#")
            if not is_name or time.monotonic() - self._listed_at < _DOUBT_AFTER:
                raise
            await self._load_channels()
            if (newer := await self.conversation_id(place)) == conversation:
                raise
            return await call(newer)

    async def conversation_size(self, place: Place) -> int:
        """The approximate number of members in a place's conversation, including the bot. Raises NotFound if
        the bot can't use it.
        """

        async def find_size(conversation: str) -> int:
            args = {"channel": conversation, "include_num_members": True}
            size, flaw = await self._api.look_up(
                Request("conversations.info", args, about=conversation),
                lambda answer: (_member_count(answer), _find_flaw(read_object(answer, "channel"))),
                _NO_CONVERSATION,
            )
            if flaw:
                raise NotFound(flaw)
            return size

        return await self.use(place, find_size)

    async def resolve_default(self) -> bool:
        """Look up the default channel and keep its id, so that later renames don't change it. Returns whether
        the bot is a member. Raises what `conversation_id` raises.
        """
        conversation = await self.conversation_id(DEFAULT_PLACE)
        info = await self._info(conversation)
        if name := info.get("name"):
            self.set_channel_name(self._api.moved.current(conversation), str(name))
        self.default = conversation
        return bool(info.get("is_member", True))

    async def _info(self, conversation: str, about: str = "") -> dict[str, Any]:
        return await self._api.look_up(
            Request("conversations.info", {"channel": conversation}, about),
            lambda answer: read_object(answer, "channel"),
            _NO_CONVERSATION,
        )

    async def check_conversation(self, place: Place) -> None:
        """Raises NotFound if the bot can't post in this conversation."""

        async def check(conversation: str) -> None:
            if flaw := _find_flaw(await self._info(conversation, about=conversation)):
                raise NotFound(flaw)

        await self.use(place, check)

    async def load_group_names(self) -> None:
        """Load the names of the user groups, if this workspace has any."""
        with suppress(ChannelError, KeyError, TypeError):
            for group in (await self._api.call("usergroups.list"))["usergroups"]:
                self.set_label(str(group["id"]), f"@{group['handle']}")

    async def _find_conversation(self, target: str) -> str:
        if not target.startswith("#"):
            if CONVERSATION_ID.fullmatch(target):
                return self._api.moved.first(target)
            raise NotFound(f"{target} is neither a channel's id nor a name: names begin with #")
        matches, age = self._ids_by_name(target), time.monotonic() - self._listed_at
        is_old = age > _MAX_AGE or self._doubted_at > self._listed_at
        if is_old or (len(matches) != 1 and age > _RETRY_AFTER):
            await self._load_channels()
            matches = self._ids_by_name(target)
        if len(matches) > 1:
            ids = " and ".join(sorted(matches))
            raise NotFound(f"{ids} are both called {target}: name the channel by its id")
        if not matches:
            raise NotFound(f"there is no channel {target} that the bot can see")
        return self._api.moved.first(matches[0])

    def _ids_by_name(self, name: str) -> list[str]:
        return [id for id, known in self._channel_names.items() if known == name]

    async def _open_direct_message(self, user_id: str) -> str:
        """The id of the DM with this person. It never changes, so it is looked up once."""
        if user_id not in self._direct_ids:
            self._direct_ids[user_id] = await self._api.look_up(
                Request("conversations.open", {"users": user_id}, about=user_id),
                lambda answer: read_field(read_object(answer, "channel"), "id", str),
                _NO_DIRECT_MESSAGE,
            )
        return self._direct_ids[user_id]

    async def _load_channels(self) -> None:
        """Load all channel names. Renames by events during the request are newer than the list, so they
        win.
        """
        self._names_from_events, began = {}, time.monotonic()
        types = "public_channel,private_channel"
        args = {"types": types, "exclude_archived": True, "limit": 1000}
        channels = await self._api.look_up_all(
            Request("conversations.list", args),
            "channels",
            lambda one: (read_field(one, "id", str), f"#{read_field(one, 'name', str)}"),
        )
        names = {id: name for id, name in channels if CHANNEL_ID.fullmatch(id)}
        self._channel_names = {**names, **self._names_from_events}
        self._listed_at = began


def _member_count(answer: Data) -> int:
    channel = read_object(answer, "channel")
    return 2 if channel.get("is_im") else read_field(channel, "num_members", int)


def _find_flaw(info: dict[str, Any]) -> str | None:
    """Why the bot can't post in this conversation; None if it can."""
    if info.get("is_archived"):
        return "the channel is archived"
    if info.get("is_member") is False:
        return "the bot is not in this channel"
    return None
