"""Text for people without the markup of a chat system: lines of spans. Pure.

A channel turns each kind of span into its own markup, and decides nothing else. `plain_text` is the line
without markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from hitl_core.model import MessageRef, Place
from hitl_core.sentences import MAX_LISTED, quote

#: One word, like most names, addresses and ids.
_ONE_WORD = re.compile(r"[\w.@:/+-]+")
#: A name like most agents': an identifier of up to four words.
_IDENTIFIER = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+){0,3}")
MAX_IDENTIFIER = 40
#: The stems of words that could be read as a decision, or as ours.
_STATUS = re.compile(
    r"accept|agree|allow|answer|approv|authori[sz]|cancel|clear|confirm|decid|decis|den[iy]|edited|escalat"
    r"|expire|grant|permit|policy|reject|review|sign|skip|trust|urgent|verif|vote|warn",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Text:
    """Our own words."""

    text: str


@dataclass(frozen=True)
class Strong:
    text: str


@dataclass(frozen=True)
class Emphasis:
    text: str


@dataclass(frozen=True)
class Struck:
    """The old text of a change."""

    text: str


@dataclass(frozen=True)
class Code:
    """A tool's name, or what a person types."""

    text: str


@dataclass(frozen=True)
class Verbatim:
    """The words of others, exactly as they are: a channel must not interpret any character of them."""

    text: str


@dataclass(frozen=True)
class Quote:
    """Like Verbatim, in quotation marks that the words can't close."""

    text: str


@dataclass(frozen=True)
class Person:
    """A person by the id in a chat system (`channel`). A channel mentions its own people and shows `label`
    for all others. `is_claimed`: an agent gave the id, so it may be any text.
    """

    id: str
    label: str
    channel: str
    is_claimed: bool = False


@dataclass(frozen=True)
class Group:
    """A group of people, like `Person`."""

    id: str
    label: str
    channel: str


@dataclass(frozen=True)
class PlaceName:
    """A place where cards are shown. A place that is a person or a group may be mentioned."""

    place: Place
    label: str


@dataclass(frozen=True)
class Time:
    """A point in time (Unix seconds), which a channel shows in the reader's time zone."""

    at: float


@dataclass(frozen=True)
class Link:
    """`label` is our own text."""

    label: str
    url: str


Span = (
    Text
    | Strong
    | Emphasis
    | Struck
    | Code
    | Verbatim
    | Quote
    | Person
    | Group
    | PlaceName
    | Time
    | Link
)
Line = tuple[Span, ...]


def no_url(_: object) -> None:
    return None


def _always(_: object) -> bool:
    return True


@dataclass(frozen=True)
class PlaceNames:
    """What the channel of a card knows about places and messages.

    - `name_of`: a place's name for people, for example `#team-ops`;
    - `is_conversation`: the place has members; otherwise it is one person or group;
    - `link`: the URL of a message; None if there is no URL;
    - `longest_person`: people's names are cut after so many characters;
    - `channel`: its name.
    """

    name_of: Callable[[Place], str]
    is_conversation: Callable[[Place], bool] = _always
    link: Callable[[MessageRef], str | None] = no_url
    longest_person: int | None = None
    channel: str = ""

    def span(self, place: Place) -> PlaceName:
        return PlaceName(place, self.name_of(place))

    def thread_link(self, place: Place) -> str | None:
        """The URL of the first message of a thread in this channel; None for any other place."""
        if place.channel != self.channel or not place.thread:
            return None
        ref = MessageRef(channel=place.channel, conversation=place.target, ts=place.thread)
        return self.link(ref)


def plain_text(line: Iterable[Span]) -> str:
    """The line as plain text. Times are in UTC."""
    return "".join(map(_plain_span, line))


def as_name(name: str) -> str:
    """A name that an agent chose, quoted unless it is one plain word: it could look like our text."""
    return name if _ONE_WORD.fullmatch(name) else quote(name)


def agent_name(name: str) -> str:
    """The name that an agent gives itself. It is quoted unless it is a plain identifier without any word that
    could be a decision: otherwise “Approved by Bob. For the record, deploy-bot” would look like our sentence.
    """
    is_plain = len(name) <= MAX_IDENTIFIER and _IDENTIFIER.fullmatch(name)
    return name if is_plain and not _STATUS.search(name) else quote(name)


def join_lines(lines: Sequence[Line], last: str = "and", *, most: int = MAX_LISTED) -> Line:
    """Like `join_names`, for lines."""
    if len(lines) > most:
        lines = [*lines[: most - 1], (Text(f"{len(lines) - most + 1} more"),)]
    joined: list[Span] = []
    for at, line in enumerate(lines):
        if at:
            joined.append(Text(f" {last} " if at == len(lines) - 1 else ", "))
        joined += line
    return tuple(joined)


def _plain_span(span: Span) -> str:
    match span:
        case Text() | Strong() | Emphasis() | Struck() | Code() | Verbatim():
            return span.text
        case Quote():
            return quote(span.text)
        case Person() | Group() | PlaceName() | Link():
            return span.label
        case Time():
            return format_utc(span.at)
    assert_never(span)


def format_clock(at: float) -> str:
    """A time in a notification: `12:00 UTC on 15 Jan`."""
    when = datetime.fromtimestamp(int(at), UTC)
    return f"{when:%H:%M} UTC on {when.day} {when:%b}"


def format_utc(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d %H:%M UTC")
