"""What the contract's tests need from a channel's own tests: places, people, and failures on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.channels.contract import Channel
from bot.forms import FormLimits, FormPage
from bot.inbox import Home
from hitl_core.model import MessageRef, Place

#: What happens to the next calls: the service limits our rate, has an error of its own, does what was asked
#: but the answer is lost, refuses with an error that is new to us, or gives an answer that can't be read.
Fault = Literal["limited", "down", "lost", "refused", "unreadable"]


@dataclass(frozen=True)
class Shown:
    """One message as people see it. `text` and the lines of its `thread` have single spaces only. `alive` are
    the people, groups and links that the message and its thread mention: what a person can be called by, or
    can click on, without the buttons. `values` is what the buttons carry.
    """

    ref: MessageRef
    text: str
    buttons: tuple[str, ...]
    values: tuple[str, ...]
    thread: tuple[str, ...]
    alive: frozenset[str]


class ShownPage(NamedTuple):
    """A form's page or a Home as one person sees it: see Shown."""

    text: str
    buttons: tuple[str, ...]
    alive: frozenset[str]


class World(ABC):
    """A chat system in memory with one `channel` connected to it.

    - `room` is a conversation with `member` in it, and `alias` another name of it; `other` is a conversation
      with `outsider` in it;
    - `direct` is the place of the person `member`; `group` (with `group_id`) has `outsider` in it;
    - `people` has an id of each kind of person that this chat system has;
    - `unusable` are places at which nothing can be shown, by a pattern of the reason;
    - `nasty` are texts that mean something to this chat system;
    - `modal_limits` are those of the channel's forms.
    """

    channel: Channel
    room: Place
    alias: Place
    other: Place
    direct: Place
    group: Place
    member: str
    outsider: str
    people: Mapping[Literal["member", "guest", "external", "bot", "left"], str]
    group_id: str
    unusable: Mapping[str, Place]
    nasty: tuple[str, ...]
    modal_limits: FormLimits

    @property
    @abstractmethod
    def now(self) -> float:
        """The chat system's clock."""

    @abstractmethod
    def fail(self, fault: Fault, times: int | None = None) -> None:
        """From now on all calls run into this, or the next `times` calls."""

    @abstractmethod
    def recover(self) -> None:
        """Everything works again."""

    @abstractmethod
    async def messages(self, place: Place) -> list[Shown]:
        """The messages of a place's conversation that are still there, oldest first."""

    @abstractmethod
    async def remove(self, ref: MessageRef) -> None:
        """A person deletes the message."""

    @abstractmethod
    async def forge(self, ref: MessageRef) -> None:
        """Another app posts a message that equals this one, with the metadata."""

    @abstractmethod
    def rename(self, id: str, name: str) -> None:
        """A person, or a group, takes this name."""

    @abstractmethod
    def show_form(self, page: FormPage) -> ShownPage:
        """A page of a form. Raises if the chat system refuses it."""

    @abstractmethod
    def show_home(self, home: Home) -> ShownPage:
        """What waits for one person. Raises if the chat system refuses it."""

    def named(self, id: str) -> str:
        """How a policy names a person or a group."""
        return f"{self.channel.name}:{id}"

    def spelling(self, text: str) -> str:
        """How this chat system shows a text of others: with single spaces."""
        return " ".join(text.split())
