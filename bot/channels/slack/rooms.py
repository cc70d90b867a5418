"""Which conversation a place is, how large it is, and what people call it.

Only the list of conversations and the events about them say where a `#name` leads. What people and groups are
called is kept apart and only shown: anybody may take a name that looks like a channel's.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, assert_never

from bot.channel import Audience, ChannelError, NotThere
from bot.channels.slack.api import Api, Data, object_in, typed
from bot.channels.slack.places import CHANNEL_ID, CONVERSATION_ID, Spot, spot_of
from hitl_core.model import DEFAULT_PLACE, Place

#: How long the names of channels are believed, and the least time between two looks for one, in seconds.
_FRESH = 600.0
_AGAIN = 2.0
#: What Slack answers where it is sure that there is no such conversation for the bot
#: (docs.slack.dev/reference/methods/conversations.info, conversations.open).
_NO_CONVERSATION = {"channel_not_found": "the bot can't see this channel"}
_NO_DIRECT = {
    "cannot_dm_bot": "this is a bot",
    "messages_tab_disabled": "the app takes no direct messages",
    "user_disabled": "this person has left",
    "user_not_found": "there is no such person",
}


class Rooms:
    """`default` is where cards go that no rule sends elsewhere: `#name` or an id."""

    def __init__(self, api: Api, default: str) -> None:
        self._api, self.default = api, default
        #: The channels' names, by id: all that was listed last, and what was heard since.
        self._channels: dict[str, str] = {}
        self._heard: dict[str, str] = {}
        self._listed = float("-inf")
        #: What people and groups are called, by id.
        self._labels: dict[str, str] = {}
        self._direct: dict[str, str] = {}

    def spot(self, place: Place) -> Spot:
        return spot_of(place, self.default)

    def audience(self, place: Place) -> Audience:
        return self.spot(place).audience

    def name_of(self, place: Place) -> str:
        kind, target = self.audience(place)
        return (self._channels if kind == "conversation" else self._labels).get(target, target)

    def name_channel(self, id: str, name: str) -> None:
        """From now on `#name` leads to this channel; what has another kind of id has no such name."""
        if CHANNEL_ID.fullmatch(id):
            self._channels[id] = self._heard[id] = f"#{name}"

    def name_somebody(self, id: str, label: str) -> None:
        """What to call a person or a group: only ever shown."""
        self._labels[id] = label

    async def resolve(self, place: Place) -> str:
        """The conversation's id. Raises NotThere where there is none that the bot can see, and
        LookupFailed, Limited or Unreachable where Slack doesn't say.
        """
        audience = self.audience(place)
        match audience.kind:
            case "person":
                return await self._direct_message(audience.id)
            case "group":
                raise NotThere(f"{audience.id} is a group: each of its members is told alone")
            case "conversation":
                return await self._conversation(audience.id)
        assert_never(audience.kind)

    async def size(self, place: Place) -> int:
        """About how many are in the conversation of a place, the bot included."""
        conversation = await self.resolve(place)
        return await self._api.look(
            "conversations.info",
            _members,
            no=_NO_CONVERSATION,
            about=conversation,
            channel=conversation,
            include_num_members=True,
        )

    async def fix_default(self) -> bool:
        """Look up where the default place is, which from now on is this conversation, whatever others are
        called later. The answer is whether the bot is a member. Raises as `resolve` does.
        """
        conversation = await self.resolve(DEFAULT_PLACE)
        info = await self._info(conversation)
        if name := info.get("name"):
            self.name_channel(conversation, str(name))
        self.default = conversation
        return bool(info.get("is_member", True))

    async def _info(self, conversation: str, about: str = "") -> dict[str, Any]:
        return await self._api.look(
            "conversations.info",
            lambda answer: object_in(answer, "channel"),
            no=_NO_CONVERSATION,
            about=about,
            channel=conversation,
        )

    async def check(self, place: Place) -> None:
        """Raises NotThere where this is no conversation in which the bot can post."""
        conversation = await self.resolve(place)
        info = await self._info(conversation, about=conversation)
        if info.get("is_archived"):
            raise NotThere("the channel is archived")
        if info.get("is_member") is False:
            raise NotThere("the bot is not in this channel")

    async def name_groups(self) -> None:
        """What groups are called, where this workspace has any."""
        with suppress(ChannelError, KeyError, TypeError):
            for group in (await self._api.call("usergroups.list"))["usergroups"]:
                self.name_somebody(str(group["id"]), f"@{group['handle']}")

    async def _conversation(self, target: str) -> str:
        if not target.startswith("#"):
            if CONVERSATION_ID.fullmatch(target):
                return target
            raise NotThere(f"{target} is no id of a channel, and no name: those begin with #")
        found, age = self._called(target), time.monotonic() - self._listed
        if age > _FRESH or (len(found) != 1 and age > _AGAIN):
            await self._list()
            found = self._called(target)
        if len(found) > 1:
            ids = " and ".join(sorted(found))
            raise NotThere(f"{ids} are both called {target}: name the channel by its id")
        if not found:
            raise NotThere(f"there is no channel {target} that the bot can see")
        return found[0]

    def _called(self, name: str) -> list[str]:
        return [id for id, known in self._channels.items() if known == name]

    async def _direct_message(self, user_id: str) -> str:
        """A DM's id stays the same, so it is asked for once."""
        if user_id not in self._direct:
            self._direct[user_id] = await self._api.look(
                "conversations.open",
                lambda answer: typed(object_in(answer, "channel"), "id", str),
                no=_NO_DIRECT,
                about=user_id,
                users=user_id,
            )
        return self._direct[user_id]

    async def _list(self) -> None:
        """What was renamed while the list was on its way is newer than the list."""
        self._heard = {}
        listed = await self._api.look_through(
            "conversations.list",
            "channels",
            lambda one: (typed(one, "id", str), f"#{typed(one, 'name', str)}"),
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=1000,
        )
        found = {id: name for id, name in listed if CHANNEL_ID.fullmatch(id)}
        self._channels = {**found, **self._heard}
        self._listed = time.monotonic()


def _members(answer: Data) -> int:
    channel = object_in(answer, "channel")
    return 2 if channel.get("is_im") else typed(channel, "num_members", int)
