"""Which conversation a place is, how large it is, and what people call it.

Only the list of conversations and the events about them say where a `#name` leads. What people and groups are
called is kept apart and only shown: anybody may take a name that looks like a channel's.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, assert_never

from hitl_core.model import DEFAULT_PLACE, Place

from ...contract import Audience, ChannelError, NotFound
from ..places import CHANNEL_ID, CONVERSATION_ID, Destination, parse_place
from .api import Api, Data, read_field, read_object

#: How long the names of channels are believed, and the least time between two looks for one, in seconds.
_MAX_AGE = 600.0
_RETRY_AFTER = 2.0
#: What Slack answers where it is sure that there is no such conversation for the bot
#: (docs.slack.dev/reference/methods/conversations.info, conversations.open).
_NO_CONVERSATION = {"channel_not_found": "the bot can't see this channel"}
_NO_DIRECT_MESSAGE = {
    "cannot_dm_bot": "this is a bot",
    "messages_tab_disabled": "the app takes no direct messages",
    "user_disabled": "this person has left",
    "user_not_found": "there is no such person",
}


class Conversations:
    """`default` is where cards go that no rule sends elsewhere: `#name` or an id."""

    def __init__(self, api: Api, default: str) -> None:
        self._api, self.default = api, default
        #: The channels' names, by id: all that was listed last, and what was heard since.
        self._channel_names: dict[str, str] = {}
        self._names_from_events: dict[str, str] = {}
        self._listed_at = float("-inf")
        #: What people and groups are called, by id.
        self._labels: dict[str, str] = {}
        self._direct_ids: dict[str, str] = {}

    def destination(self, place: Place) -> Destination:
        return parse_place(place, self.default)

    def audience(self, place: Place) -> Audience:
        return self.destination(place).audience

    def name_of(self, place: Place) -> str:
        kind, target = self.audience(place)
        return (self._channel_names if kind == "conversation" else self._labels).get(target, target)

    def set_channel_name(self, id: str, name: str) -> None:
        """From now on `#name` leads to this channel; what has another kind of id has no such name."""
        if CHANNEL_ID.fullmatch(id):
            self._channel_names[id] = self._names_from_events[id] = f"#{name}"

    def set_label(self, id: str, label: str) -> None:
        """What to call a person or a group: only ever shown."""
        self._labels[id] = label

    async def conversation_id(self, place: Place) -> str:
        """The conversation's id. Raises NotThere where there is none that the bot can see, and
        LookupFailed, Limited or Unreachable where Slack doesn't say.
        """
        audience = self.audience(place)
        match audience.kind:
            case "person":
                return await self._open_direct_message(audience.id)
            case "group":
                raise NotFound(f"{audience.id} is a group: each of its members is told alone")
            case "conversation":
                return await self._find_conversation(audience.id)
        assert_never(audience.kind)

    async def conversation_size(self, place: Place) -> int:
        """About how many are in the conversation of a place, the bot included. Raises NotFound for one that
        can't be used.
        """
        conversation = await self.conversation_id(place)
        size, flaw = await self._api.look_up(
            "conversations.info",
            lambda answer: (_member_count(answer), _find_flaw(read_object(answer, "channel"))),
            absent_errors=_NO_CONVERSATION,
            about=conversation,
            channel=conversation,
            include_num_members=True,
        )
        if flaw:
            raise NotFound(flaw)
        return size

    async def resolve_default(self) -> bool:
        """Look up where the default place is, which from now on is this conversation, whatever others are
        called later. The answer is whether the bot is a member. Raises as `resolve` does.
        """
        conversation = await self.conversation_id(DEFAULT_PLACE)
        info = await self._info(conversation)
        if name := info.get("name"):
            self.set_channel_name(conversation, str(name))
        self.default = conversation
        return bool(info.get("is_member", True))

    async def _info(self, conversation: str, about: str = "") -> dict[str, Any]:
        return await self._api.look_up(
            "conversations.info",
            lambda answer: read_object(answer, "channel"),
            absent_errors=_NO_CONVERSATION,
            about=about,
            channel=conversation,
        )

    async def check_conversation(self, place: Place) -> None:
        """Raises NotThere where this is no conversation in which the bot can post."""
        conversation = await self.conversation_id(place)
        if flaw := _find_flaw(await self._info(conversation, about=conversation)):
            raise NotFound(flaw)

    async def load_group_names(self) -> None:
        """What groups are called, where this workspace has any."""
        with suppress(ChannelError, KeyError, TypeError):
            for group in (await self._api.call("usergroups.list"))["usergroups"]:
                self.set_label(str(group["id"]), f"@{group['handle']}")

    async def _find_conversation(self, target: str) -> str:
        if not target.startswith("#"):
            if CONVERSATION_ID.fullmatch(target):
                return target
            raise NotFound(f"{target} is no id of a channel, and no name: those begin with #")
        matches, age = self._ids_by_name(target), time.monotonic() - self._listed_at
        if age > _MAX_AGE or (len(matches) != 1 and age > _RETRY_AFTER):
            await self._load_channels()
            matches = self._ids_by_name(target)
        if len(matches) > 1:
            ids = " and ".join(sorted(matches))
            raise NotFound(f"{ids} are both called {target}: name the channel by its id")
        if not matches:
            raise NotFound(f"there is no channel {target} that the bot can see")
        return matches[0]

    def _ids_by_name(self, name: str) -> list[str]:
        return [id for id, known in self._channel_names.items() if known == name]

    async def _open_direct_message(self, user_id: str) -> str:
        """A DM's id stays the same, so it is asked for once."""
        if user_id not in self._direct_ids:
            self._direct_ids[user_id] = await self._api.look_up(
                "conversations.open",
                lambda answer: read_field(read_object(answer, "channel"), "id", str),
                absent_errors=_NO_DIRECT_MESSAGE,
                about=user_id,
                users=user_id,
            )
        return self._direct_ids[user_id]

    async def _load_channels(self) -> None:
        """What was renamed while the list was on its way is newer than the list."""
        self._names_from_events = {}
        channels = await self._api.look_up_all(
            "conversations.list",
            "channels",
            lambda one: (read_field(one, "id", str), f"#{read_field(one, 'name', str)}"),
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=1000,
        )
        names = {id: name for id, name in channels if CHANNEL_ID.fullmatch(id)}
        self._channel_names = {**names, **self._names_from_events}
        self._listed_at = time.monotonic()


def _member_count(answer: Data) -> int:
    channel = read_object(answer, "channel")
    return 2 if channel.get("is_im") else read_field(channel, "num_members", int)


def _find_flaw(info: dict[str, Any]) -> str | None:
    """Why the bot can't post in this conversation."""
    if info.get("is_archived"):
        return "the channel is archived"
    if info.get("is_member") is False:
        return "the bot is not in this channel"
    return None
