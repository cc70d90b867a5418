"""Teams as a channel: posts, updates and finds cards, and looks up places and people."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

from hitl_core.errors import SettingsError, StoreUnavailable
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place
from hitl_core.store import Store

from ...card import Card, ThreadLine, plain_text, thread_text
from ...health import Health
from ...text import one_line, shorten
from ..contract import (
    ChannelError,
    MessageFixed,
    NotFound,
    Pace,
    Places,
)
from ..people_check import check_people
from .ids import NAME, ButtonKey, message_mark, with_mark
from .places import LABEL, Address, message_link
from .render import Json, announcement_card, card_message, place_names, plain_card, thread_card
from .stored_key import StoredKey
from .transport import (
    CONNECTOR_SCOPE,
    Activity,
    Api,
    BoundedClient,
    Cloud,
    Credentials,
    OwnMessages,
    PeopleLookup,
    References,
    Tokens,
    Uploads,
    card_activity,
)

log = logging.getLogger(__name__)

#: The time limit of one call, in seconds.
TIMEOUT = 4.0
#: How far Redis's clock, which gives the time of a post, may be ahead of Teams', in seconds.
CLOCK_TOLERANCE = 600.0
#: The longest line of an announcement.
MAX_LINE = 600


class TeamsChannel(PeopleLookup):
    """One tenant. `default`: the conversation for cards whose rule names no place, by id or name; "" if
    another channel has the bot's own place. `cloud_url`: the address of a local Teams.
    """

    name, label = NAME, LABEL
    places: Places | None = None
    #: Teams allows 7 messages a second in one conversation, 60 in 30 s and 1,800 an hour, updates included
    #: (learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit): these two together are 60 in
    #: 30 s. After an hour of that Teams says how long to wait.
    pace = Pace(message=1.0, update=1.0, update_burst=5, is_per_conversation=True)
    shows_names = False

    def __init__(
        self,
        credentials: Credentials,
        store: Store,
        health: Health,
        default: str = "",
        *,
        cloud_url: str = "",
        timeout: float = TIMEOUT,
    ) -> None:
        self._health, self.store = health, store
        self.team = credentials.tenant_id
        self.cloud = Cloud.of(credentials.tenant_id, cloud_url)
        self.http = BoundedClient(timeout=timeout)
        self.uploads = Uploads(self.http, cloud_url)
        self._tokens = Tokens(self.http, credentials, self.cloud)
        api = Api(self.http, self._tokens, self.cloud, self._health, timeout)
        super().__init__(api, References(store, self._health), credentials, default)
        self._own_messages = OwnMessages(api, self, credentials.client_id)
        self.stored_key = StoredKey(store, self._health)

    async def start(self) -> None:
        """Raises SettingsError for wrong credentials, or if the default conversation can't be looked up. A
        missing default conversation is no error, because the bot learns only while it runs where the app was
        added.
        """
        self._api.health = Health(quiet=True)  # the SettingsError says it all
        try:
            await self._tokens.token(CONNECTOR_SCOPE)
        except ChannelError as error:
            raise SettingsError(f"Microsoft Entra gave no token: {error}.") from error
        await self.stored_key.start()
        try:
            await self.team_channels.all()
        except ChannelError as error:  # only names are missing, and they are loaded again
            log.warning("the names of the teams could not be loaded: %s", error)
        if self.default:
            try:
                await self.resolve_default()
            except NotFound as error:
                todo = "Add the app there while the bot runs"
                log.warning("HITL_CHANNEL is teams:%s: %s. %s", self.default, error, todo)
            except (ChannelError, StoreUnavailable) as error:
                raise SettingsError(f"HITL_CHANNEL is teams:{self.default}: {error}.") from error
        self._api.health = self._health

    def name_of(self, place: Place) -> str:
        elsewhere = self.places.name_elsewhere(place, self) if self.places else None
        # People choose these names: nothing in them may be invisible, or change the order of our text.
        return one_line(super().name_of(place) if elsewhere is None else elsewhere)

    async def close(self) -> None:
        await self.team_channels.close()
        await self.http.aclose()

    def key_in(self, conversation: str) -> ButtonKey:
        """The key that signs the buttons of this conversation, known after the start."""
        return self.stored_key.within(conversation)

    async def is_repeated(self, activity: Activity, ttl: float) -> bool:
        """Whether this activity came before, within `ttl` seconds: Teams repeats one whose answer it did not
        get. The id of a message is only unique in its conversation. Raises StoreUnavailable.
        """
        name = f"teams-activity:{activity.conversation.id} {activity.id}"
        return activity.id is not None and not await self.store.try_lock(name, ttl)

    async def check_place(self, place: Place) -> None:
        audience = self.audience(place)
        if audience.kind == "conversation":
            await self.check_conversation(place)
        else:
            await check_people(self, audience)
        if audience.kind == "person":
            await self.conversation_id(place)

    def link(self, ref: MessageRef) -> str | None:
        """The URL of a message; None for personal chats."""
        team = self.team_channels.team_of(ref.conversation)
        return message_link(ref, self.team, team.group if team else "")

    async def post(self, place: Place, card: Card) -> MessageRef:
        conversation = await self.conversation_id(place)
        content = await self._card_message(card, conversation)
        return await self._post(place, conversation, card, content)

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, await self.conversation_id(place), card, plain_card(card))

    async def update(self, place: Place, ref: MessageRef, card: Card) -> None:
        is_chat = self.audience(place).kind == "person"
        if is_chat and await self.conversation_id(place) != ref.conversation:
            raise MessageFixed("it is in a chat of a former registration of the bot")
        content = await self._card_message(card, ref.conversation)
        body = card_activity(with_mark(content, message_mark(card.review_id, place)), card.summary)
        await self._own_messages.change(ref, body, self.destination(place).thread)

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        """Post below the message in a channel; as another message in a chat, which has no threads."""
        thread = self.destination(place).thread or ref.ts
        text = plain_text(thread_text(line, place_names(self.name_of)))
        body = card_activity(thread_card(line, self.name_of), text)
        await self.references.refresh()
        await self._own_messages.post(ref.conversation, body, thread, ref.service_url)

    async def find_messages(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        conversation = await self.conversation_id(place)
        audience, thread = self.destination(place)
        person = audience.id if audience.kind == "person" else ""
        mark = message_mark(review_id, place)
        ids = await self._own_messages.find(
            conversation, thread, person, mark, since - CLOCK_TOLERANCE
        )
        return [self._ref(conversation, id) for id in ids]

    async def delete(self, place: Place, ref: MessageRef) -> None:
        await self._own_messages.delete(ref, self.destination(place).thread)

    async def announce(self, lines: Sequence[str]) -> None:
        """Post one message to the operators, in HITL_CHANNEL."""
        short = [shorten(one_line(line), MAX_LINE) for line in lines]
        await self.send(DEFAULT_PLACE, announcement_card(short), short[0])

    async def send(self, place: Place, content: Json, summary: str) -> MessageRef:
        """Post a card that belongs to no review."""
        return await self.send_activity(place, card_activity(content, summary))

    async def send_activity(self, place: Place, body: Json) -> MessageRef:
        return await self._send(await self.conversation_id(place), place, body)

    async def replace(self, ref: MessageRef, content: Json, summary: str) -> None:
        """Update a message of `send`. Raises MessageGone if it was deleted."""
        await self.replace_activity(ref, card_activity(content, summary))

    async def replace_activity(self, ref: MessageRef, body: Json) -> None:
        await self._own_messages.change(ref, body)

    async def _card_message(self, card: Card, conversation: str) -> Json:
        with suppress(ChannelError):  # without the names of new teams, the card shows their ids
            await self.team_channels.refresh_soon()
        return card_message(card, self.name_of, self.key_in(conversation), self.link)

    async def _post(self, place: Place, conversation: str, card: Card, content: Json) -> MessageRef:
        mark = message_mark(card.review_id, place)
        body = card_activity(with_mark(content, mark), card.summary)
        return await self._send(conversation, place, body)

    async def _send(self, conversation: str, place: Place, body: Json) -> MessageRef:
        thread = self.destination(place).thread
        return self._ref(conversation, await self._own_messages.post(conversation, body, thread))

    def _ref(self, conversation: str, id: str) -> MessageRef:
        return MessageRef(
            channel=NAME,
            conversation=conversation,
            ts=id,
            service_url=self.references.service_url(Address(conversation)),
            tenant=self.team,
        )
