"""Which conversation a place is, how large it is, and what people call it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import assert_never

from bot.channel import Audience, ChannelError, Undeliverable
from bot.channels.slack.api import Api
from bot.channels.slack.places import Spot, spot_of
from hitl_core.model import Place

#: How long the names of channels are believed, in seconds.
_FRESH = 600.0


class Rooms:
    """`default` is where cards go that no rule sends elsewhere: `#name` or an id."""

    def __init__(self, api: Api, default: str) -> None:
        self._api, self.default = api, default
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._listed = 0.0

    def spot(self, place: Place) -> Spot:
        return spot_of(place, self.default)

    def audience(self, place: Place) -> Audience:
        return self.spot(place).audience

    def name_of(self, place: Place) -> str:
        target = self.audience(place).id
        return self._names.get(target, target)

    def call(self, id: str, name: str) -> None:
        """A person, group or channel has this name from now on; `#name` leads to this channel alone."""
        for known in [known for known, of in self._ids.items() if of == id and known[0] == "#"]:
            del self._ids[known]
        self._names[id] = name
        if name.startswith("#"):
            self._ids[name] = id

    async def resolve(self, place: Place) -> str:
        """The conversation's id. Raises Undeliverable where the bot knows no such channel."""
        audience = self.audience(place)
        match audience.kind:
            case "person":
                return await self._direct(audience.id)
            case "group":
                raise Undeliverable(f"{audience.id} is a group: each of its members is told alone")
            case "conversation":
                return await self._conversation(audience.id)
        assert_never(audience.kind)

    async def size(self, place: Place) -> int:
        """About how many are in the conversation of a place, the bot included."""
        conversation = await self.resolve(place)
        info = await self._api.call(
            "conversations.info", channel=conversation, include_num_members=True
        )
        return int(info["channel"].get("num_members") or 0)

    async def name_groups(self) -> None:
        """What groups are called, where this workspace has any."""
        with suppress(ChannelError):
            for group in (await self._api.call("usergroups.list"))["usergroups"]:
                self._names[group["id"]] = f"@{group['handle']}"

    async def _conversation(self, target: str) -> str:
        if not target.startswith("#"):
            return target
        if target not in self._ids or time.monotonic() - self._listed > _FRESH:
            await self._list()
        if target not in self._ids:
            raise Undeliverable(f"there is no channel {target} that the bot can see")
        return self._ids[target]

    async def _direct(self, user_id: str) -> str:
        """A DM's id stays the same, so it is asked for once."""
        if user_id not in self._ids:
            opened = await self._api.call("conversations.open", users=user_id)
            self._ids[user_id] = str(opened["channel"]["id"])
        return self._ids[user_id]

    async def _list(self) -> None:
        async for channel in self._api.paged(
            "conversations.list",
            "channels",
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=1000,
        ):
            self.call(channel["id"], f"#{channel['name']}")
        self._listed = time.monotonic()
