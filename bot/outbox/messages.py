"""The messages of a review: post, draw, find and delete, within the rate limit that all bots share."""

from __future__ import annotations

import logging

from hitl_core.model import MessageRef, Place, Snapshot

from ..card import Card, ThreadLine, build_card
from ..channels.contract import LookupFailed, MessageGone, NotFound, Undeliverable
from ..channels.registry import Channels
from ..offload import offload_drawing
from .rate_limit import RateLimit

log = logging.getLogger(__name__)


class Messages:
    """Places may be copies. Methods raise ChannelErrors. Posts and updates never raise RateLimited: they
    wait.
    """

    def __init__(self, channels: Channels, pace: RateLimit) -> None:
        self._channels, self._pace = channels, pace

    async def post(self, snapshot: Snapshot, place: Place) -> MessageRef:
        """Post the card. If the channel refuses the card, post its text."""
        channel = self._channels.of_place(place)
        conversation = channel.name, await channel.conversation_id(place)
        card_values = await _draw_card(snapshot, place)
        try:
            return await self._pace.post(conversation, lambda: channel.post(place, card_values))
        except NotFound:
            raise
        except Undeliverable as error:
            try:
                posted = await self._pace.post(
                    conversation, lambda: channel.post_plain(place, card_values)
                )
            except Undeliverable:
                raise error from None  # the place was refused, not the card
            log.error(
                "review %s: its card was refused (%s), so it was posted as text",
                card_values.review_id,
                error,
            )
            return posted

    async def draw(self, ref: MessageRef, snapshot: Snapshot, place: Place) -> bool:
        """Update the message. Returns False if somebody deleted it: it is not posted again, because that
        would ask again.
        """
        channel, card_values = self._channels.of_message(ref), await _draw_card(snapshot, place)
        try:
            await self._pace.update(channel.name, lambda: channel.update(ref, card_values))
        except MessageGone:
            log.warning("review %s: its message at %s was deleted", snapshot.review.id, place)
            return False
        return True

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        channel = self._channels.of_message(ref)
        await self._pace.post(ref.key[:2], lambda: channel.reply(place, ref, line))

    async def find(self, snapshot: Snapshot, place: Place, since: float) -> list[MessageRef]:
        """Our messages about this review at this place, oldest first; not those of another place in the same
        conversation. `since`: the earliest time of a post, 0 if it is not known.
        """
        review = snapshot.review
        elsewhere = {ref.key for other, ref in snapshot.posts.items() if other != place}
        refs = await self._channels.of_place(place).find_messages(
            place, review.id, since or review.created_at
        )
        return [ref for ref in refs if ref.key not in elsewhere]

    async def delete(self, ref: MessageRef) -> None:
        await self._channels.of_message(ref).delete(ref)

    async def is_near(self, place: Place, ref: MessageRef) -> bool:
        """Whether this place is in the message's conversation. False if it can't be reached or is a group;
        True if it is not known.
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
    return await offload_drawing(review, lambda: build_card(review, place.base, snapshot.posts))
