"""Slack as a channel: posts, updates and finds cards, and looks up places and people."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from hitl_core.errors import SettingsError
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place

from ...card import Card, ThreadLine, refused_card_text
from ...health import Health
from ...text import one_line, shorten
from ..answers import Data, read_field, read_object
from ..contract import (
    LookupFailed,
    MessageFixed,
    NotFound,
    Pace,
    Places,
    Undeliverable,
    Unreachable,
)
from ..people_check import check_people
from . import ids
from .places import LABEL, NAME
from .render import card_message, plain_lines, plain_message, thread_message
from .transport import (
    Api,
    MovedConversations,
    OwnMessages,
    PeopleLookup,
    Request,
    message_ref,
    read_identity,
)

log = logging.getLogger(__name__)

#: How far Redis's clock, which gives the time of a post, may be ahead of Slack's, in seconds. A bot whose
#: clock differs from Redis's by 120 s is not ready; one that differs from Slack's by 300 s gets no clicks.
CLOCK_TOLERANCE = 600.0
#: The longest line of an announcement.
MAX_LINE = 600
#: In a message's `text` Slack interprets no links, formats and names with this.
_QUIET = {"unfurl_links": False, "unfurl_media": False, "parse": "none", "mrkdwn": False}


class SlackChannel(PeopleLookup):
    """One workspace. `default`: the channel for cards whose rule names no place, as `#name` or an id; "" if
    another chat system has the bot's own place.
    """

    name, label = NAME, LABEL
    places: Places | None = None
    #: About one message a second in each conversation, and 50 updates a minute with short bursts
    #: (docs.slack.dev/apis/web-api/rate-limits).
    pace = Pace(message=1.0, update=1.2, update_burst=10)
    shows_names = True

    def __init__(
        self,
        client: AsyncWebClient,
        default: str,
        health: Health,
        moved: MovedConversations | None = None,
    ) -> None:
        super().__init__(Api(client, health, moved), default)
        self._health, self.moved = health, self._api.moved
        self._messages = OwnMessages(self._api)
        self._workspace_url = ""

    @property
    def bot_user_id(self) -> str:
        return self._messages.bot_user_id

    @property
    def bot_id(self) -> str:
        return self._messages.bot_id

    async def start(self) -> None:
        """Raises SettingsError for a wrong token, or a default channel that the bot can't use."""
        self._api.health = Health(quiet=True)  # the SettingsError says it all
        await self._connect()
        self._api.health = self._health

    async def _connect(self) -> None:
        try:
            me = await self._api.look_up(Request("auth.test", {}), read_identity)
        except Unreachable as error:
            raise SettingsError(
                f"Slack refused SLACK_BOT_TOKEN or can't be reached: {error}."
            ) from error
        own = self._messages
        self.team, own.bot_user_id, own.bot_id, self._workspace_url = me
        await self.load_group_names()
        if self.default:
            await self._check_default()

    async def _check_default(self) -> None:
        try:
            is_member = await self.resolve_default()
        except (Undeliverable, Unreachable, LookupFailed) as error:
            raise SettingsError(f"HITL_CHANNEL is {self.default!r}: {error}.") from error
        if not is_member:
            name = self.name_of(DEFAULT_PLACE)
            raise SettingsError(
                f"The bot is not a member of {name} (HITL_CHANNEL). Invite it there."
            )

    async def check_token(self) -> bool:
        """Whether Slack accepts the bot's token; if not, that is a problem until it does. Never raises."""
        text = "Slack can't be used with the bot's token"
        with self._health.report_errors("lookup", "auth.test", text):
            await self._api.call("auth.test")
            return True
        return False

    def name_of(self, place: Place) -> str:
        elsewhere = self.places.name_elsewhere(place, self) if self.places else None
        return super().name_of(place) if elsewhere is None else elsewhere

    async def check_place(self, place: Place) -> None:
        audience = self.audience(place)
        if audience.kind == "conversation":
            await self.check_conversation(place)
        else:
            await check_people(self, audience)

    def link(self, ref: MessageRef) -> str:
        """The URL of a message (docs.slack.dev/reference/methods/chat.getPermalink)."""
        conversation, ts = self.moved.current(ref.conversation), ref.ts.replace(".", "")
        return f"{self._workspace_url}archives/{conversation}/p{ts}"

    async def post(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, card, self.card_message(card))

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, card, plain_message(refused_card_text(card)))

    async def update(self, place: Place, ref: MessageRef, card: Card) -> None:
        content = {"parse": "none", **self.card_message(card)}
        try:
            await self._api.call("chat.update", channel=ref.conversation, ts=ref.ts, **content)
        except NotFound as error:
            is_person = self.audience(place).kind == "person"
            if is_person and await self.conversation_id(place) != ref.conversation:
                raise MessageFixed("it is in a direct message of a former bot") from error
            raise

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        content = {**_QUIET, **thread_message(line, self.name_of)}
        await self._messages.reply(ref.conversation, self._threads(place, ref), content)

    async def upload(self, place: Place, ref: MessageRef, name: str, text: str) -> None:
        """Post a text file in the card's thread. That is looked up first: if it was deleted, Slack would put
        the file into the channel. Raises MessageGone.
        """
        thread = await self._messages.find_thread(ref.conversation, self._threads(place, ref))
        await self._api.upload(ref.conversation, thread, name, text)

    def _threads(self, place: Place, ref: MessageRef) -> Iterable[str]:
        """Where the card's thread may be: if the place's thread was deleted before the post, the card is in
        the channel.
        """
        return filter(None, (self.destination(place).thread, ref.ts))

    async def find_messages(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        return await self._messages.find(
            await self.conversation_id(place),
            self.destination(place).thread,
            ids.message_metadata(review_id, place),
            since - CLOCK_TOLERANCE,
        )

    async def delete(self, place: Place, ref: MessageRef) -> None:
        await self._messages.delete(ref)

    async def open_view(self, trigger_id: str, view: dict[str, Any]) -> str:
        """Returns the view's id. A trigger is valid for 3 s and opens one view."""
        return await self._api.call_and_read(
            "views.open", _read_view_id, trigger_id=trigger_id, view=view
        )

    async def push_view(self, trigger_id: str, view: dict[str, Any]) -> str:
        """Like `open_view`, on top of the modal with the button. Slack allows three modals at most."""
        return await self._api.call_and_read(
            "views.push", _read_view_id, trigger_id=trigger_id, view=view
        )

    async def update_view(self, view_id: str, view: dict[str, Any]) -> None:
        await self._api.call("views.update", view_id=view_id, view=view)

    async def publish_home(self, user_id: str, view: dict[str, Any]) -> None:
        await self._api.call("views.publish", user_id=user_id, view=view)

    async def announce(self, lines: Sequence[str]) -> None:
        """Post one message to the operators, in HITL_CHANNEL."""
        short = [shorten(line, MAX_LINE) for line in lines]
        await self._api.call(
            "chat.postMessage",
            channel=await self.conversation_id(DEFAULT_PLACE),
            **_QUIET,
            **plain_lines(short),
        )

    async def post_ephemeral(self, conversation: str, user_id: str, text: str) -> None:
        """Post a message that only this person sees. Raises ChannelError."""
        await self._api.call(
            "chat.postEphemeral",
            channel=conversation,
            user=user_id,
            parse="none",
            **plain_message(one_line(text)),
        )

    def card_message(self, card: Card) -> dict[str, Any]:
        """The `text` and `blocks` of a card's message."""
        return card_message.message(card, self.name_of, self.link)

    async def _post(self, place: Place, card: Card, content: dict[str, Any]) -> MessageRef:
        thread = self.destination(place).thread

        async def post(conversation: str) -> MessageRef:
            return await self._api.call_and_read(
                "chat.postMessage",
                _read_message_ref,
                channel=conversation,
                **({"thread_ts": thread} if thread else {}),
                **_QUIET,
                # `find_messages` looks for this. An update without metadata keeps it.
                metadata={
                    "event_type": "hitl_review",
                    "event_payload": ids.message_metadata(card.review_id, place),
                },
                **content,
            )

        return await self.use(place, post)


def _read_message_ref(answer: Data) -> MessageRef:
    return message_ref(read_field(answer, "channel", str), read_field(answer, "ts", str))


def _read_view_id(answer: Data) -> str:
    return read_field(read_object(answer, "view"), "id", str)
