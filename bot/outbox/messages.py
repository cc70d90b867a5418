"""The messages of a review: posts, draws, finds and deletes them, within the bots' common rate limit."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from hitl_core.failpoints import failpoint
from hitl_core.model import MessageRef, Place, Snapshot
from hitl_core.store import Store, lane_of, note_lane_failure

from ..card import Card, ThreadLine, build_card
from ..channels.contract import (
    Channel,
    LookupFailed,
    NotFound,
    RateLimited,
    Undeliverable,
)
from ..channels.registry import Channels
from ..offload import offload_drawing
from .rate_limit import RateLimit

log = logging.getLogger(__name__)

#: How long a line in a thread waits for the limit of posts, in seconds: updates of cards wait for it.
LINE_PATIENCE = 2.0
T = TypeVar("T")


class Posted(NamedTuple):
    """The message that is recorded. `is_new`: it was posted just now, by this bot."""

    ref: MessageRef
    is_new: bool


class Messages:
    """Places may be members' copies. Methods raise ChannelErrors. Posts of cards and updates wait instead of
    raising RateLimited.
    """

    def __init__(self, channels: Channels, store: Store, pace: float) -> None:
        """`pace` is a factor for the channels' own rate limits; 0.0 is none."""
        self._channels, self._store, self._pace = channels, store, RateLimit(store, pace)

    @property
    def waiting(self) -> int:
        """How many posts and updates wait for the rate limit."""
        return self._pace.waiting

    async def post(self, snapshot: Snapshot, place: Place) -> tuple[MessageRef, bool]:
        """Post the card. If the channel refuses the card, post its text. Returns whether it is the card."""
        card = await _draw_card(snapshot, place)
        try:
            return await self.post_card(place, card), True
        except NotFound:
            raise
        except Undeliverable as error:
            channel = self._channels.of_place(place)
            try:
                posted = await self._post(channel, place, lambda: channel.post_plain(place, card))
            except Undeliverable:
                raise error from None  # the place was refused, not the card
            log.error(
                "review %s: its card was refused (%s), so it was posted as text",
                card.review_id,
                error,
            )
            return posted, False

    async def post_card(self, place: Place, card: Card) -> MessageRef:
        """Post this card. Raises Undeliverable, also if the channel refuses the card."""
        channel = self._channels.of_place(place)
        return await self._post(channel, place, lambda: channel.post(place, card))

    async def _post(
        self, channel: Channel, place: Place, call: Callable[[], Awaitable[MessageRef]]
    ) -> MessageRef:
        conversation = await channel.conversation_id(place)

        async def post() -> MessageRef:
            try:
                return await call()
            except RateLimited as limited:
                await note_lane_failure(self._store, lane_of(place), str(limited))
                raise

        return await self._pace.post(channel, conversation, post)

    async def post_once(
        self,
        what: Literal["card", "digest"],
        place: Place,
        earlier: Sequence[MessageRef],
        post: Callable[[], Awaitable[MessageRef]],
        record: Callable[[MessageRef], Awaitable[MessageRef]],
    ) -> Posted:
        """Post a message, unless an `earlier` one was found, and record it. `record` returns the message that
        is recorded: if two bots posted, the first one stays and the other bot deletes its own.
        """
        await failpoint(f"outbox.before_{what}")
        mine = earlier[0] if earlier else await post()
        await failpoint(f"outbox.after_{what}")
        recorded = await record(mine)
        await self.delete_others(place, (mine, *earlier[1:]), recorded)
        await failpoint(f"outbox.after_{what}_record")
        return Posted(recorded, is_new=not earlier and recorded.key == mine.key)

    async def draw(self, ref: MessageRef, snapshot: Snapshot, place: Place) -> None:
        """Update the message. Raises MessageGone."""
        await self.update_card(ref, place, await _draw_card(snapshot, place))

    async def update_card(self, ref: MessageRef, place: Place, card: Card) -> None:
        """Update the message. Raises MessageGone."""
        channel = self._channels.of_message(ref)
        await self._pace.update(channel, ref.conversation, lambda: channel.update(place, ref, card))

    async def reply(
        self, place: Place, ref: MessageRef, line: ThreadLine, begin: Callable[[], Awaitable[bool]]
    ) -> None:
        """Post a line below the message. `begin` is awaited right before each request; nothing is posted if
        it returns False. Raises RateLimited where it would wait for longer than LINE_PATIENCE.
        """
        channel = self._channels.of_message(ref)

        async def reply() -> None:
            if await begin():
                await channel.reply(place, ref, line)

        await self._pace.post(channel, ref.conversation, reply, LINE_PATIENCE)

    async def find(self, snapshot: Snapshot, place: Place, since: float) -> list[MessageRef]:
        """Our messages about this review at this place, oldest first, without those of another place in the
        same conversation. `since`: the earliest time of a post, 0 if unknown.
        """
        review = snapshot.review
        elsewhere = {ref.key for other, ref in snapshot.posts.items() if other != place}
        refs = await self.find_by_id(review.id, place, since or review.created_at)
        return [ref for ref in refs if ref.key not in elsewhere]

    async def find_by_id(self, id: str, place: Place, since: float) -> list[MessageRef]:
        """Our messages with this id of a review or a digest, oldest first."""
        return await self._channels.of_place(place).find_messages(place, id, since)

    async def check_place(self, place: Place) -> None:
        await self._channels.of_place(place).check_place(place)

    async def delete(self, place: Place, ref: MessageRef) -> None:
        await self._channels.of_message(ref).delete(place, ref)

    async def delete_others(
        self, place: Place, refs: Iterable[MessageRef], keep: MessageRef
    ) -> None:
        """Delete these messages, except the one to keep."""
        for ref in refs:
            if ref.key != keep.key:
                await self.delete(place, ref)

    async def is_near(self, place: Place, ref: MessageRef) -> bool:
        """Whether this place is in the message's conversation. False if the place can't be reached or is a
        group; True if that is unknown.
        """
        try:
            channel = self._channels.of_place(place)
            conversation = await channel.conversation_id(place)
            return (channel.name, conversation) == (ref.channel, ref.conversation)
        except LookupFailed:
            return True
        except Undeliverable:
            return False


async def _draw_card(snapshot: Snapshot, place: Place) -> Card:
    review = snapshot.review
    return await offload_drawing(
        review, lambda: build_card(review, place.base, snapshot.posts, held=snapshot.held)
    )
