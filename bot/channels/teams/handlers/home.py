"""A person's Home: a message in their personal chat with what waits for them."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import replace

from hitl_core.model import MessageRef, Place, Reviewer

from ....inbox import Home, HomeLoader, HomeView, Inbox, PermittedSnapshot, offload_home
from ...contract import MessageGone
from ..channel import TeamsChannel
from ..ids import NAME
from ..render import CardBuilder, Json, home_card

#: The title in the notification.
HOME_TITLE = "What waits for you"

log = logging.getLogger(__name__)


class TeamsHome:
    """A Home is sent when its person asks for it. For a while after that, its message is updated when
    something changed.
    """

    def __init__(self, inbox: Inbox, homes: HomeLoader, channel: TeamsChannel) -> None:
        self._inbox, self._homes, self._channel = inbox, homes, channel

    async def open(self, who: Reviewer) -> None:
        """Sends a new message. Raises ChannelError, StoreUnavailable."""
        key, views = _key(who.id), self._homes.views
        await views.record_open(key)
        home = await self._homes.load_home(who)
        conversation = await self._channel.conversation_id(Place(key))
        card = await self._draw(home, conversation, who.id)
        ref = await self._channel.send(Place(key), card, HOME_TITLE)
        await views.save(key, HomeView(home.page, _hash(card), ref.model_dump_json()))

    async def publish(self, user_id: str, page: int | None = None) -> None:
        """Updates the newest message, if it is out of date. If a form or page is shown in its place, nothing
        is sent, because an update would replace that, with everything that was typed. Raises ChannelError,
        StoreUnavailable.
        """
        key, views = _key(user_id), self._homes.views
        shown = await views.load(key)
        if not shown.message or shown.is_covered:
            return
        who = await self._inbox.directory.load_reviewer(NAME, user_id, self._channel.team, user_id)
        home = await self._homes.load_home(who, shown.page if page is None else page)
        message = _message(shown)
        card = await self._draw(home, message.conversation, user_id)
        if shown.sent == (sent := _hash(card)) or await views.load(key) != shown:
            return  # the person did something meanwhile: the next update has it
        try:
            await self._channel.replace(message, card, HOME_TITLE)
        except MessageGone:
            await views.forget(key)
        else:
            await views.replace(key, shown, HomeView(home.page, sent, shown.message))

    async def cover(self, who: Reviewer, message_id: str | None) -> None:
        """Record that the person sees something else in place of the message with this id. Raises
        StoreUnavailable.
        """
        key, views = _key(who.id), self._homes.views

        def cover(shown: HomeView) -> HomeView | None:
            is_newest = shown.message and _message(shown).ts == message_id
            return replace(shown, is_covered=True) if is_newest else None

        await views.change(key, cover)

    async def draw(
        self,
        who: Reviewer,
        conversation: str,
        page: int | None,
        seen: PermittedSnapshot | None = None,
    ) -> Json:
        """This page, or the current one, as the answer to a press. `seen`: the review of that press. The
        message itself is updated a little later.
        """
        key, views = _key(who.id), self._homes.views
        shown = await views.load(key)
        home = await self._homes.load_home(who, shown.page if page is None else page, seen)
        await views.change(key, lambda shown: HomeView(home.page, "", shown.message))
        return await self._draw(home, conversation, who.id)

    async def _draw(self, home: Home, conversation: str, user_id: str) -> Json:
        channel = self._channel
        builder = CardBuilder.of(channel.name_of, channel.key_in(conversation), channel.link)
        unknown = channel.unknown_to(user_id)
        return await offload_home(home, lambda home: home_card(home, builder, unknown))


def _key(user_id: str) -> str:
    """The key of a person. It is also the text of their place."""
    return f"{NAME}:{user_id}"


def _message(shown: HomeView) -> MessageRef:
    return MessageRef.model_validate_json(shown.message)


def _hash(card: Json) -> str:
    return hashlib.sha256(json.dumps(card).encode()).hexdigest()
