"""The interface of every channel (Slack, Teams). A channel draws and transports; it decides nothing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeVar

from hitl_core.errors import safe_message
from hitl_core.model import MessageRef, Place

from ..card import Card, ThreadLine

T = TypeVar("T")


class ChannelError(Exception):
    """A call to a channel failed. Always one of the subclasses below."""


def error_text(error: Exception) -> str:
    """What failed, for the log and the operators: like `safe_message`, and the text of a ChannelError."""
    return str(error) if isinstance(error, ChannelError) else safe_message(error)


#: If a channel limits our rate without a time: how often the pause of a second between two tries is doubled.
MAX_DOUBLINGS = 6


class RateLimited(ChannelError):
    """The channel limits our rate, so the call had no effect. Try again after `seconds`; None if the channel
    doesn't say when.
    """

    def __init__(self, seconds: float | None) -> None:
        super().__init__("the rate is limited" + (f" for {seconds:.0f} s" if seconds else ""))
        self.seconds = seconds

    def pause(self, refusals: int = 1) -> float:
        """The seconds until the next try after this many refusals in a row. Without a time of the channel it
        is doubled each time, with a little at random, so that not all try again at the same moment.
        """
        if self.seconds is not None:
            return self.seconds
        return 2.0 ** min(refusals - 1, MAX_DOUBLINGS) * random.uniform(1.0, 1.2)


async def repeat_while_limited(call: Callable[[], Awaitable[T]]) -> T:
    """The result of the call, which is made again, after a pause, as long as the rate is limited."""
    refusals = 0
    while True:
        try:
            return await call()
        except RateLimited as limited:
            refusals += 1
            await asyncio.sleep(limited.pause(refusals))


class Unreachable(ChannelError):
    """The channel did not answer, or failed. The request may have succeeded nevertheless."""


class NotSent(Unreachable):
    """The call had no effect: there was no connection or no token, or the channel refused it for now. It may
    be repeated without a check of its effect.
    """


class Undeliverable(ChannelError):
    """The channel refused permanently. The text is the reason, for the log and the operator. `error` is the
    channel's own error code, `needed` the permission that the app lacks.
    """

    def __init__(self, text: str, *, error: str = "", needed: str = "") -> None:
        super().__init__(text)
        self.error, self.needed = error, needed


class NotFound(Undeliverable):
    """There is no such person, group or place, or the bot can't use it. An unexpected error does not prove
    that; it is raised as Undeliverable or LookupFailed.
    """


class LookupFailed(ChannelError):
    """A look-up was refused or its answer can't be read, so the result is neither yes nor no."""


class MessageGone(Undeliverable):
    """The message was deleted, or can no longer be changed."""


class MessageFixed(MessageGone):
    """The message can still be seen, but no longer be changed."""


class Audience(NamedTuple):
    """The people whom a place reaches: one person, or the members of a group or of a conversation."""

    kind: Literal["person", "group", "conversation"]
    id: str


class Pace(NamedTuple):
    """How often all bots together may call a channel, in seconds: the shortest time between two messages to
    one conversation; and between two updates, after `update_burst` updates at once. `is_per_conversation`:
    each conversation has a limit of its own for updates too; otherwise one limit counts for all of them.
    """

    message: float
    update: float
    update_burst: int
    is_per_conversation: bool = False


@dataclass(frozen=True)
class Person:
    """A person as the channel knows them now. `external`: from another workspace, in a shared channel.
    `teams`: the workspaces of a person who is in several of one organization, and the organization.
    """

    id: str
    name: str
    kind: Literal["member", "guest", "external", "bot"]
    active: bool = True
    teams: frozenset[str] = frozenset()

    @property
    def can_act(self) -> bool:
        """Whether this is an active person, not a bot."""
        return self.active and self.kind != "bot"

    def team_of(self, team: str, own: str) -> str:
        """The workspace of the person whose click names `team`, as `own` sees it: "" if they are external and
        it names `own`. The click of a person of several may name any of them
        (https://github.com/slackapi/bolt-js/issues/1875).
        """
        if self.kind == "external":
            return "" if team == own else team
        return own if {team, own} <= self.teams else team


class Places(Protocol):
    """The places in all channels of the bot."""

    def name_elsewhere(self, place: Place, channel: Channel) -> str | None:
        """The name of a place in another channel than this one; None for a place in this one."""
        ...


class Channel(Protocol):
    """Every async method raises RateLimited, Unreachable or Undeliverable; look-ups also raise LookupFailed.
    A look-up has three results: yes, no (None or NotFound), and unknown (any other error).
    """

    #: The prefix of its places (`Place.channel`), and the channel of its messages and people.
    name: str
    #: The name of the chat system for people.
    label: str
    #: The id of the bot's own workspace or tenant (`Reviewer.team`). People of others are external.
    team: str
    #: The channel's rate limits.
    pace: Pace
    #: Whether its clients show a person's name in place of their id. Otherwise the bot looks it up.
    shows_names: bool
    #: Set by `Channels`.
    places: Places | None

    def name_of(self, place: Place) -> str:
        """The name of a place for people, for example `#team-ops`; of another channel's place what `places`
        says.
        """
        ...

    def audience(self, place: Place) -> Audience: ...

    async def conversation_id(self, place: Place) -> str:
        """The id of the place's conversation. Two places may share one."""
        ...

    async def post(self, place: Place, card: Card) -> MessageRef:
        """Post a card, with metadata by which `find_messages` finds it."""
        ...

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        """Post only the card's summary without buttons, after the channel refused the card."""
        ...

    async def update(self, place: Place, ref: MessageRef, card: Card) -> None:
        """Replace the card of the message posted at `place`. `find_messages` still finds the message."""
        ...

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        """Post a line in the card's thread."""
        ...

    async def find_messages(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        """Our own messages about this review at this place since `since` (the store's clock), oldest first.
        Waits when the channel limits the rate, then continues.
        """
        ...

    async def delete(self, place: Place, ref: MessageRef) -> None:
        """Delete the message posted at `place`. One that is gone, or that another bot posted, is no error."""
        ...

    async def announce(self, lines: Sequence[str]) -> None:
        """Post one message to the operators, at DEFAULT_PLACE. Only the default channel needs to do it."""
        ...

    async def check_place(self, place: Place) -> None:
        """Raises NotFound with the reason if nothing can be shown at this place."""
        ...

    async def person(self, user_id: str) -> Person | None:
        """None if there is no such person."""
        ...

    async def group_members(self, group_id: str) -> frozenset[str]:
        """The ids of a group's members; empty if the group does not exist or was disabled."""
        ...

    async def conversation_members(self, conversation: str) -> frozenset[str]:
        """The ids of the people in a conversation."""
        ...

    async def audiences(self, person_id: str) -> frozenset[str]:
        """All entries of `Review.audiences` that this person belongs to, except as the requester."""
        ...

    async def conversation_size(self, place: Place) -> int:
        """The approximate number of members in a place's conversation, including the bot."""
        ...
