"""The cards as people see them: the messages in the chat system, by review."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from benchmarks.chaos.chats import Card, Chat, Element
from hitl_core.model import is_digest_id

#: The seconds between two searches for new messages.
EVERY = 0.2


class Board:
    """Only `follow` and `look` search the channels. A card that they have found is kept, and its message is
    read again.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._cards: dict[str, list[Card]] = {}
        #: The messages that were found, by channel: also those that were deleted since.
        self._found: dict[str, set[str]] = {}

    async def follow(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(EVERY)

    def look(self) -> None:
        for channel, messages in self._chat.messages():
            found = self._found.setdefault(channel, set())
            for id in reversed(messages):
                if id in found:
                    break
                found.add(id)
                if (card := self._chat.card(messages[id])) is not None:
                    self._cards.setdefault(card.review, []).append(card)

    def cards(self, review_id: str) -> list[Card]:
        """The review's cards that still exist, in the order in which they were found."""
        return [card for card in self._cards.get(review_id, ()) if card.exists]

    def card(self, review_id: str, channel: str) -> Card | None:
        return next((one for one in self.cards(review_id) if one.channel == channel), None)

    def all_cards(self) -> Iterator[Card]:
        return (card for review in self._cards for card in self.cards(review))

    def digests(self) -> list[Card]:
        return [card for id in self._cards if is_digest_id(id) for card in self.cards(id)]


def find_element(card: Card, verb: str, action: str, user: str) -> Element | None:
    found = card.elements(user)
    return next((one for one in found if (one.verb, one.action) == (verb, action)), None)
