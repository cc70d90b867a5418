"""Slack as a channel: posts, updates and finds cards; looks up places and people."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Any, Literal, assert_never, cast

from slack_sdk.web.async_client import AsyncWebClient

from bot.card import Card, ThreadLine
from bot.channel import (
    Audience,
    ChannelError,
    MessageGone,
    Person,
    Undeliverable,
    Unreachable,
)
from bot.channels.slack import blocks, ids
from bot.channels.slack.api import Api
from bot.channels.slack.places import NAME, Spot, spot_of
from bot.channels.slack.rich import inert
from bot.text import one_line
from hitl_core.errors import SettingsError
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place

log = logging.getLogger(__name__)

#: How far Redis's clock, by which a review has its time, may be ahead of Slack's, in seconds.
CLOCKS = 3600.0
#: How long names and channels are believed, in seconds.
_FRESH = 600.0


class SlackChannel:
    """One workspace. `default` is where cards go that no rule sends elsewhere: `#name` or an id."""

    name = NAME

    def __init__(self, client: AsyncWebClient, default: str) -> None:
        self._api = Api(client)
        self._default = default
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._listed = 0.0
        self._url = ""
        self.team = ""
        self.user = ""
        self.bot_id = ""

    async def start(self) -> None:
        """Raises SettingsError in one sentence: a wrong token, or a channel that isn't there."""
        try:
            me = await self._api.call("auth.test")
        except Unreachable as error:
            raise SettingsError(
                f"Slack refuses SLACK_BOT_TOKEN or can't be reached: {error}."
            ) from error
        self.team, self.user, self.bot_id = me["team_id"], me["user_id"], me.get("bot_id", "")
        self._url = str(me.get("url", ""))
        await self._name_groups()
        try:
            conversation = await self.resolve(DEFAULT_PLACE)
            info = (await self._api.call("conversations.info", channel=conversation))["channel"]
        except (Undeliverable, Unreachable) as error:
            raise SettingsError(f"HITL_CHANNEL is {self._default!r}: {error}.") from error
        self._names[conversation] = f"#{info['name']}"
        if not info.get("is_member", True):
            raise SettingsError(
                f"The bot is not in {self._names[conversation]} (HITL_CHANNEL): invite it there."
            )

    def name_of(self, place: Place) -> str:
        target = self._spot(place).audience.id
        return self._names.get(target, target)

    def audience(self, place: Place) -> Audience:
        return self._spot(place).audience

    def link(self, ref: MessageRef) -> str:
        """Where a browser finds a message (docs.slack.dev/reference/methods/chat.getPermalink)."""
        return f"{self._url}archives/{ref.conversation}/p{ref.ts.replace('.', '')}"

    def forget(self, conversation: str) -> None:
        """What this conversation is called is looked up again."""
        self._names.pop(conversation, None)
        for name in [name for name, known in self._ids.items() if known == conversation]:
            del self._ids[name]

    def cut(self, card: Card) -> frozenset[str]:
        return blocks.cut_keys(card, self.name_of)

    async def post(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, card, self._drawn(card))

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        summary = self._drawn(card)["text"]
        told = f"{summary} This message can't be drawn; it waits as {card.review_id}."
        return await self._post(place, card, {"text": told})

    async def update(self, ref: MessageRef, card: Card) -> None:
        drawn = self._drawn(card)
        await self._api.call("chat.update", channel=ref.conversation, ts=ref.ts, **drawn)

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        await self._api.call(
            "chat.postMessage",
            channel=ref.conversation,
            thread_ts=self._spot(place).thread or ref.ts,
            unfurl_links=False,
            unfurl_media=False,
            **blocks.thread_message(line, self.name_of),
        )

    async def upload(self, place: Place, ref: MessageRef, name: str, text: str) -> None:
        """A text file, below the card."""
        await self._api.upload(ref.conversation, self._spot(place).thread or ref.ts, name, text)

    async def find(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        conversation = await self.resolve(place)
        thread = self._spot(place).thread
        method = "conversations.replies" if thread else "conversations.history"
        found: list[MessageRef] = []
        async for message in self._api.paged(
            method,
            "messages",
            channel=conversation,
            oldest=f"{since - CLOCKS:.6f}",
            include_all_metadata=True,
            limit=200,
            **({"ts": thread} if thread else {}),
        ):
            mark = message.get("metadata", {}).get("event_payload")
            if message.get("bot_id") == self.bot_id and mark == ids.mark(review_id, place):
                found.append(_ref(conversation, message["ts"]))
        return sorted(found, key=lambda ref: ref.ts)

    async def delete(self, ref: MessageRef) -> None:
        with suppress(MessageGone):
            await self._api.call("chat.delete", channel=ref.conversation, ts=ref.ts)

    async def person(self, user_id: str) -> Person:
        user = (await self._api.call("users.info", user=user_id))["user"]
        name = str(user.get("real_name") or user.get("name") or user_id)
        self._names[user_id] = name
        return Person(user_id, name, _kind(user, self.team), not user.get("deleted"))

    async def group(self, group_id: str) -> frozenset[str]:
        found = await self._api.call("usergroups.users.list", usergroup=group_id)
        return frozenset(map(str, found["users"]))

    async def members(self, conversation: str) -> frozenset[str]:
        found = self._api.paged(
            "conversations.members", "members", channel=conversation, limit=1000
        )
        return frozenset([cast(str, member) async for member in found])

    async def audiences(self, person_id: str) -> frozenset[str]:
        found = {f"user:{person_id}", f"place:{NAME}:{person_id}"}
        with suppress(Undeliverable):  # a workspace without groups
            groups = await self._api.call("usergroups.list", include_users=True)
            for group in groups["usergroups"]:
                if person_id in group.get("users", ()):
                    found |= {f"group:{group['id']}", f"place:{NAME}:{group['id']}"}
        async for channel in self._api.paged(
            "users.conversations",
            "channels",
            user=person_id,
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=200,
        ):
            targets = {channel["id"], f"#{channel['name']}"}
            found |= {f"place:{NAME}:{target}" for target in targets}
            if self._default in targets:
                found.add(f"place:{DEFAULT_PLACE}")
        return frozenset(found)

    async def size(self, place: Place) -> int:
        if self.audience(place).kind != "conversation":
            return 1
        conversation = await self.resolve(place)
        info = await self._api.call(
            "conversations.info", channel=conversation, include_num_members=True
        )
        return int(info["channel"].get("num_members") or 0)

    async def open_view(self, trigger_id: str, view: dict[str, Any]) -> str:
        """The view's id. A trigger lives for 3 s and opens one view."""
        opened = await self._api.call("views.open", trigger_id=trigger_id, view=view)
        return str(opened["view"]["id"])

    async def push_view(self, trigger_id: str, view: dict[str, Any]) -> str:
        """The same on top of the modal in which the button stands; three at most."""
        pushed = await self._api.call("views.push", trigger_id=trigger_id, view=view)
        return str(pushed["view"]["id"])

    async def update_view(self, view_id: str, view: dict[str, Any]) -> None:
        await self._api.call("views.update", view_id=view_id, view=view)

    async def publish_home(self, user_id: str, view: dict[str, Any]) -> None:
        await self._api.call("views.publish", user_id=user_id, view=view)

    async def whisper(self, conversation: str, user_id: str, text: str) -> None:
        """Only this person sees it. Never raises: what it tells about has happened anyway."""
        try:
            told = inert(one_line(text))
            await self._api.call(
                "chat.postEphemeral", channel=conversation, user=user_id, text=told
            )
        except ChannelError as error:
            log.warning("%s could not be told: %s", user_id, error)

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

    async def _name_groups(self) -> None:
        """What groups are called, where this workspace has any."""
        with suppress(ChannelError):
            for group in (await self._api.call("usergroups.list"))["usergroups"]:
                self._names[group["id"]] = f"@{group['handle']}"

    def _spot(self, place: Place) -> Spot:
        return spot_of(place, self._default)

    def _drawn(self, card: Card) -> dict[str, Any]:
        return blocks.message(card, self.name_of, self.link)

    async def _list(self) -> None:
        async for channel in self._api.paged(
            "conversations.list",
            "channels",
            types="public_channel,private_channel",
            exclude_archived=True,
            limit=1000,
        ):
            self._ids[f"#{channel['name']}"] = channel["id"]
            self._names[channel["id"]] = f"#{channel['name']}"
        self._listed = time.monotonic()

    async def _post(self, place: Place, card: Card, message: dict[str, Any]) -> MessageRef:
        conversation, thread = await self.resolve(place), self._spot(place).thread
        posted = await self._api.call(
            "chat.postMessage",
            channel=conversation,
            **({"thread_ts": thread} if thread else {}),
            unfurl_links=False,
            unfurl_media=False,
            # By this the bot finds its own message again. An update without it keeps it.
            metadata={
                "event_type": "hitl_review",
                "event_payload": ids.mark(card.review_id, place),
            },
            **message,
        )
        return _ref(str(posted["channel"]), str(posted["ts"]))


def _kind(user: dict[str, Any], team: str) -> Literal["member", "guest", "stranger", "bot"]:
    """As users.info tells it (docs.slack.dev/reference/objects/user-object)."""
    if user.get("is_bot") or user.get("is_workflow_bot"):
        return "bot"
    if user.get("is_stranger") or user.get("team_id") != team:
        return "stranger"
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return "guest"
    return "member"


def _ref(conversation: str, ts: str) -> MessageRef:
    return MessageRef(channel=SlackChannel.name, conversation=conversation, ts=ts)
