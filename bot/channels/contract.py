"""The contract of a channel: Slack keeps it, Teams will. A channel draws and carries; it decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from hitl_core.model import MessageRef, Place

from ..card import Card, ThreadLine


class ChannelError(Exception):
    """A channel could not do what was asked: exactly one of the following."""


class RateLimited(ChannelError):
    """The channel said: not now. Try again after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"limited for {seconds} s")
        self.seconds = seconds


class Unreachable(ChannelError):
    """The channel did not answer, or failed. What was asked may have happened all the same."""


class Undeliverable(ChannelError):
    """The channel refused for good; the text is the reason, for the log and the operator. `error` is the
    channel's own word for it, `needed` the right that the app lacks.
    """

    def __init__(self, text: str, *, error: str = "", needed: str = "") -> None:
        super().__init__(text)
        self.error, self.needed = error, needed


class NotFound(Undeliverable):
    """It is known that there is no such person, group or place, or none that the bot can use. An error that
    nobody expected says nothing of the kind: that is Undeliverable alone, or LookupFailed.
    """


class LookupFailed(ChannelError):
    """The channel refused to say, or said nothing that can be read: the answer is neither yes nor no.
    `method` is the call that failed, `error` what was answered, `needed` the right that the app lacks.
    """

    def __init__(self, text: str, *, method: str = "", error: str = "", needed: str = "") -> None:
        super().__init__(text)
        self.method, self.error, self.needed = method, error, needed


class MessageGone(Undeliverable):
    """The message to change is no longer there, or can't be changed any more."""


class Audience(NamedTuple):
    """Whom a place reaches: one person, the members of a group, or those of a conversation."""

    kind: Literal["person", "group", "conversation"]
    id: str


def copy_place(place: Place, person_id: str) -> Place:
    """Where one member of a group gets the card: by this their message is noted."""
    return f"{place}>{person_id}"


def base_place(place: Place) -> Place:
    """The place itself."""
    return place.partition(">")[0]


@dataclass(frozen=True)
class Person:
    """Somebody as the channel knows them now. `stranger`: of another workspace, in a shared channel."""

    id: str
    name: str
    kind: Literal["member", "guest", "stranger", "bot"]
    active: bool = True


class Channel(Protocol):
    """Every async method raises Limited, Unreachable or Undeliverable; what looks something up raises
    LookupFailed as well. A look-up has three answers: yes, no (None or NotThere), and unknown (all others).
    """

    name: str

    def name_of(self, place: Place) -> str:
        """What people call a place: `#team-ops`."""
        ...

    def audience(self, place: Place) -> Audience: ...

    async def conversation_id(self, place: Place) -> str:
        """The id of the conversation that this place is in: two places may be in one."""
        ...

    def incomplete_actions(self, card: Card) -> frozenset[str]:
        """The keys of the actions of which this channel's card doesn't show everything."""
        ...

    async def post(self, place: Place, card: Card) -> MessageRef:
        """Post a card, marked so that `find` knows it again."""
        ...

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        """Where the card itself is refused: its sentence, without buttons."""
        ...

    async def update(self, ref: MessageRef, card: Card) -> None: ...

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        """Below the card, in its thread."""
        ...

    async def find_messages(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        """Our own messages about this review at this place since then by the store's clock, the oldest first.
        Waits where the channel limits, and goes on where that stopped it.
        """
        ...

    async def delete(self, ref: MessageRef) -> None: ...

    async def check_place(self, place: Place) -> None:
        """Raises NotThere, with what is wrong, where nothing can be shown at a place."""
        ...

    async def person(self, user_id: str) -> Person | None:
        """None where there is no such person."""
        ...

    async def group_members(self, group_id: str) -> frozenset[str]:
        """The ids of a group's members: nobody where there is no such group, or none any more."""
        ...

    async def conversation_members(self, conversation: str) -> frozenset[str]:
        """The ids of the people in a conversation."""
        ...

    async def audiences(self, person_id: str) -> frozenset[str]:
        """All of `Review.audiences` that this person belongs to, but for what was asked on their behalf."""
        ...

    async def conversation_size(self, place: Place) -> int:
        """About how many are in the conversation of a place, the bot included."""
        ...
