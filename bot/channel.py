"""The contract of a channel: Slack keeps it, Teams will. A channel draws and carries; it decides nothing."""

from __future__ import annotations

from typing import Protocol

from bot.card import Card
from hitl_core.model import MessageRef, Place


class ChannelError(Exception):
    """A channel could not do what was asked: exactly one of the following."""


class Limited(ChannelError):
    """The channel said: not now. Try again after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"limited for {seconds} s")
        self.seconds = seconds


class Unreachable(ChannelError):
    """The channel did not answer, or failed. What was asked may have happened all the same."""


class Undeliverable(ChannelError):
    """The channel refused for good; the text is the reason, for the log and the operator."""


class MessageGone(Undeliverable):
    """The message to change is no longer there, or can't be changed any more."""


class Channel(Protocol):
    """Every method raises Limited, Unreachable or Undeliverable."""

    def name_of(self, place: Place) -> str:
        """What people call a place: `#team-ops`."""
        ...

    async def post(self, place: Place, card: Card) -> MessageRef:
        """Post a card, marked so that `find` knows it again."""
        ...

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        """Where the card itself is refused: its sentence, without buttons."""
        ...

    async def update(self, ref: MessageRef, card: Card) -> None: ...

    async def find(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        """Our own messages about this review at this place, the oldest first."""
        ...

    async def delete(self, ref: MessageRef) -> None: ...

    async def members(self, ref: MessageRef) -> frozenset[str]:
        """The ids of the people in the conversation where a card stands."""
        ...
