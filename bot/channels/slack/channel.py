"""Slack as a channel: posts, updates and finds cards; looks up places and people."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, assert_never

from slack_sdk.web.async_client import AsyncWebClient

from bot.card import Card, ThreadLine
from bot.channel import (
    ChannelError,
    LookupFailed,
    MessageGone,
    NotThere,
    Undeliverable,
    Unreachable,
)
from bot.channels.slack import blocks, ids
from bot.channels.slack.api import NO_PLACE, Api, Data, typed
from bot.channels.slack.people import People
from bot.channels.slack.places import NAME
from bot.channels.slack.rich import inert
from bot.channels.slack.rooms import Rooms
from bot.health import Health
from bot.text import one_line, shortened
from hitl_core.errors import SettingsError
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place

log = logging.getLogger(__name__)

#: How far Redis's clock, by which a post has its time, may be ahead of Slack's, in seconds: a bot that
#: is 120 s off Redis is not ready, and one that is 300 s off Slack gets no click.
CLOCKS = 600.0
#: The longest line of an announcement.
MAX_LINE = 600


class SlackChannel:
    """One workspace. `default` is where cards go that no rule sends elsewhere: `#name` or an id."""

    name = NAME

    def __init__(self, client: AsyncWebClient, default: str, health: Health | None = None) -> None:
        self._health = health or Health()
        self._api = Api(client, self._health)
        self._rooms = rooms = Rooms(self._api, default)
        self._people = people = People(self._api, rooms)
        self._url = ""
        self.team = ""
        self.user = ""
        self.bot_id = ""
        self.name_of, self.audience, self.size = rooms.name_of, rooms.audience, rooms.size
        self.name_channel, self.name_somebody = rooms.name_channel, rooms.name_somebody
        self.conversation = rooms.resolve
        self.person, self.group = people.person, people.group
        self.members, self.audiences = people.members, people.audiences

    async def start(self) -> None:
        """Raises SettingsError in one sentence: a wrong token, or a channel that isn't there."""
        self._api.health = Health(quiet=True)  # that sentence says all
        await self._start()
        self._api.health = self._health

    async def _start(self) -> None:
        try:
            me = await self._api.look("auth.test", _own)
        except Unreachable as error:
            raise SettingsError(
                f"Slack refuses SLACK_BOT_TOKEN or can't be reached: {error}."
            ) from error
        self.team, self.user, self.bot_id, self._url = me
        self._people.team = self.team
        await self._rooms.name_groups()
        default = self._rooms.default
        try:
            is_member = await self._rooms.fix_default()
        except (Undeliverable, Unreachable, LookupFailed) as error:
            raise SettingsError(f"HITL_CHANNEL is {default!r}: {error}.") from error
        if not is_member:
            name = self.name_of(DEFAULT_PLACE)
            raise SettingsError(f"The bot is not in {name} (HITL_CHANNEL): invite it there.")

    async def check(self, place: Place) -> None:
        audience = self.audience(place)
        match audience.kind:
            case "conversation":
                await self._rooms.check(place)
            case "group":
                if not await self.group(audience.id):
                    raise NotThere("nobody is in this group, or there is no such group")
            case "person":
                person = await self.person(audience.id)
                if person is None or person.kind == "bot" or not person.active:
                    why = "there is no such person" if person is None else "this is a bot"
                    raise NotThere("this person has left" if person and not person.active else why)
            case _:
                assert_never(audience.kind)

    def link(self, ref: MessageRef) -> str:
        """Where a browser finds a message (docs.slack.dev/reference/methods/chat.getPermalink)."""
        return f"{self._url}archives/{ref.conversation}/p{ref.ts.replace('.', '')}"

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
            thread_ts=self._rooms.spot(place).thread or ref.ts,
            unfurl_links=False,
            unfurl_media=False,
            **blocks.thread_message(line, self.name_of),
        )

    async def upload(self, place: Place, ref: MessageRef, name: str, text: str) -> None:
        """A text file, below the card."""
        await self._api.upload(
            ref.conversation, self._rooms.spot(place).thread or ref.ts, name, text
        )

    async def find(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        conversation = await self._rooms.resolve(place)
        thread = self._rooms.spot(place).thread
        method = "conversations.replies" if thread else "conversations.history"

        def read(message: Data) -> MessageRef | None:
            mark = message.get("metadata", {}).get("event_payload")
            ours = message.get("bot_id") == self.bot_id or message.get("user") == self.user
            is_card = ours and mark == ids.mark(review_id, place)
            return _ref(conversation, message["ts"]) if is_card else None

        found = await self._api.look_through(
            method,
            "messages",
            read,
            no=NO_PLACE,
            about=conversation,
            patient=True,
            channel=conversation,
            oldest=f"{since - CLOCKS:.6f}",
            include_all_metadata=True,
            limit=200,
            **({"ts": thread} if thread else {}),
        )
        return sorted(filter(None, found), key=lambda ref: ref.ts)

    async def delete(self, ref: MessageRef) -> None:
        with suppress(MessageGone):
            await self._api.call("chat.delete", channel=ref.conversation, ts=ref.ts)

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

    async def announce(self, lines: Sequence[str]) -> None:
        """To the people who run the bot, in its own channel (HITL_CHANNEL): one message, a line each."""
        told = "\n".join(inert(shortened(line, MAX_LINE)) for line in lines)
        await self._api.call(
            "chat.postMessage",
            channel=await self._rooms.resolve(DEFAULT_PLACE),
            text=told,
            unfurl_links=False,
            unfurl_media=False,
        )

    async def whisper(self, conversation: str, user_id: str, text: str) -> None:
        """Only this person sees it. Never raises: what it tells about has happened anyway."""
        try:
            told = inert(one_line(text))
            await self._api.call(
                "chat.postEphemeral", channel=conversation, user=user_id, text=told
            )
        except ChannelError as error:
            log.warning("%s could not be told: %s", user_id, error)

    def _drawn(self, card: Card) -> dict[str, Any]:
        return blocks.message(card, self.name_of, self.link)

    async def _post(self, place: Place, card: Card, message: dict[str, Any]) -> MessageRef:
        conversation, thread = await self._rooms.resolve(place), self._rooms.spot(place).thread
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


def _own(answer: Data) -> tuple[str, str, str, str]:
    """Of auth.test: the workspace, the bot as a user, the bot, and where the workspace is."""
    bot_id, url = str(answer.get("bot_id") or ""), str(answer.get("url") or "")
    return typed(answer, "team_id", str), typed(answer, "user_id", str), bot_id, url


def _ref(conversation: str, ts: str) -> MessageRef:
    return MessageRef(channel=SlackChannel.name, conversation=conversation, ts=ts)
