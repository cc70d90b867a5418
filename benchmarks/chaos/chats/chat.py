"""What differs between the chat systems of a run: how cards look, and how people press and fill in."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from benchmarks.chaos.faults.link import Address

#: Returns the port at which a bot reaches this server.
OpenPort = Callable[[Address], Awaitable[int]]


class Element(NamedTuple):
    """A button of a card. `value`: as the bot wrote it. `source`: the button in its message."""

    value: str
    source: Any

    @property
    def verb(self) -> str:
        return self.value.split(".")[0]

    @property
    def action(self) -> str:
        """The number of its action in the review; several numbers for a button of the whole card."""
        return ".".join(self.value.split(".")[2:3])

    @property
    def revision(self) -> int | None:
        """The revision of its action, or the attempt of a call in doubt; None for a button of
        the whole card.
        """
        part = self.value.split(".")[3:4]
        return int(part[0]) if part and part[0] else None


@dataclass(frozen=True)
class Answer:
    """What a person sees after a press. `status` is None if no answer came in time. `notice`: a message to
    this person, or "".
    """

    status: int | None
    notice: str = ""

    @property
    def is_acknowledged(self) -> bool:
        """The person saw no failure, and no message that the press didn't count."""
        return self.status == 200 and not self.notice

    @property
    def may_press_again(self) -> bool:
        return self.status != 200 or "ress again" in self.notice or "ry again" in self.notice


#: What a digest's message says: "7 reviews wait", or "2 of 7 reviews wait".
_WAITING = re.compile(r"(\d+)(?: of \d+)? reviews? waits?\b")


def digest_count(text: str) -> int:
    """How many reviews wait, as the text of a digest's message says."""
    found = _WAITING.search(text)
    return int(found.group(1)) if found else 0


class Card(Protocol):
    """A message about one review, or about those of a digest."""

    @property
    def id(self) -> str:
        """The message's, in its channel."""
        ...

    @property
    def review(self) -> str:
        """The review's id, or the digest's."""
        ...

    @property
    def channel(self) -> str: ...

    @property
    def exists(self) -> bool:
        """Whether nobody has deleted it."""
        ...

    @property
    def drawing(self) -> object:
        """Another object after each update."""
        ...

    def text(self) -> str:
        """All that everybody reads. People are shown as their ids."""
        ...

    def elements(self, user: str = "") -> list[Element]:
        """The buttons that this person sees; without a person, those that everybody sees."""
        ...


class Chat(Protocol):
    def reach(self, bots: Sequence[str]) -> None:
        """Sets the addresses of the bots, without a path. Called before they start."""
        ...

    async def settings(self, open_port: OpenPort) -> Mapping[str, str]:
        """Those of a bot."""
        ...

    async def announce(self) -> None:
        """Tells the bots that they were added to the channels."""
        ...

    def messages(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The messages of each channel by their ids, the oldest first."""
        ...

    def card(self, message: Any) -> Card | None:
        """None if the message is no card."""
        ...

    async def press(self, user: str, card: Card, element: Element) -> Answer: ...

    def page(self, user: str, card: Card) -> list[Element]:
        """The buttons of the digest's page that this person has open in place of the card."""
        ...

    def has_form(self, user: str, card: Card) -> bool:
        """Whether this person has a form open that they can send."""
        ...

    async def send_form(self, user: str, card: Card, values: Mapping[str, str]) -> Answer:
        """Sends the open form with these values, by label."""
        ...

    async def close_form(self, user: str, card: Card) -> None:
        """Leaves the form or page, if one is open."""
        ...

    def fail(self, what: str, pick: int) -> Callable[[], None]:
        """The next calls of bots fail. Returns what ends the wait of a late call."""
        ...

    def end_faults(self) -> None: ...
