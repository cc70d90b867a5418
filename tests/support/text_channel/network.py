"""A chat system in memory: the server to which the text channel talks.

A message has lines of text and buttons. `@p-ada` in a line mentions Ada; `@@` is an @. Ids begin with `p-`
(people), `g-` (groups), `r-` and `d-` (rooms and direct messages). Like a real chat system, it refuses
content that is too long or not text, limits the rate, and loses answers.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

MAX_LINES, MAX_TEXT = 200, 8_000
MAX_BUTTONS, MAX_LABEL, MAX_TOKEN, MAX_TAG = 20, 80, 2_000, 200
PAGE = 2
#: The bot's own id.
BOT = "p-approver"

Fault = Literal["limited", "down", "lost", "refused", "unreadable"]


class Refusal(Exception):
    """A call was refused and had no effect. The text is an error code."""


class TooFast(Exception):
    """Try again after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class NoAnswer(Exception):
    """The connection broke. The call may have had an effect."""


@dataclass(frozen=True)
class Button:
    """`question`: the confirmation that a person is asked for before the button counts."""

    label: str
    token: str
    question: str = ""


@dataclass(frozen=True)
class Content:
    """The content of a message. `form` is sent back with the text that a person writes below it."""

    lines: tuple[str, ...]
    buttons: tuple[Button, ...] = ()
    form: str = ""

    @property
    def fits(self) -> bool:
        sizes = len(self.lines), sum(map(len, self.lines)), len(self.buttons)
        return all(map(operator.le, sizes, (MAX_LINES, MAX_TEXT, MAX_BUTTONS)))


@dataclass(frozen=True)
class Message:
    id: str
    room: str
    by: str
    at: float
    content: Content
    tag: str = ""
    thread: str = ""


@dataclass(frozen=True)
class Member:
    name: str
    kind: str = "member"
    left: bool = False


@dataclass
class Room:
    name: str
    members: set[str]
    closed: bool = False


@dataclass
class Group:
    name: str
    members: set[str]


@dataclass
class Network:
    """`call` is the API for bots. `press`, `write` and `open_home` are what people do; `listener` gets an
    event for each.
    """

    now: float
    people: dict[str, Member]
    rooms: dict[str, Room]
    groups: dict[str, Group]
    messages: dict[str, Message] = field(default_factory=dict[str, Message])
    #: The content of each person's Home.
    homes: dict[str, Content] = field(default_factory=dict[str, Content])
    faults: list[list[Any]] = field(default_factory=list[list[Any]])
    listener: Callable[[dict[str, Any]], Awaitable[Content]] | None = None
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def call(self, method: str, **args: Any) -> dict[str, Any]:
        fault = self._next_fault()
        match fault:
            case "limited":
                raise TooFast(0.01)
            case "down":
                raise NoAnswer
            case "refused":
                raise Refusal("new_error")
            case _:
                answer = getattr(self, f"_{method}")(**args)
        if fault == "lost":
            raise NoAnswer
        return {} if fault == "unreadable" else answer

    def post(self, by: str, message: Message) -> Message:
        """Posts a message as an app or a person."""
        posted = replace(message, id=f"m{next(self._ids)}", by=by, at=self.now)
        self.messages[posted.id] = posted
        return posted

    async def press(
        self, person: str, label: str, message: Message, notice: Content | None = None
    ) -> Content:
        """Presses a button of the message, or of a notice about it. Returns the notice that only this person
        sees.
        """
        buttons = (notice or message.content).buttons
        token = next(each.token for each in buttons if each.label == label)
        return await self._event(person, message, token=token)

    async def write(
        self, person: str, text: str, message: Message, notice: Content, button: str = "send"
    ) -> Content:
        """Fills in the form of a notice, and presses one of its buttons."""
        return await self._event(person, message, form=notice.form, text=text, token=button)

    async def open_home(self, person: str) -> Content:
        """Opens the person's Home, and returns its content."""
        await self._event(person, None, home="open")
        return self.homes[person]

    async def press_in_home(self, person: str, label: str) -> Content:
        buttons = self.homes[person].buttons
        token = next(each.token for each in buttons if each.label == label)
        return await self._event(person, None, token=token)

    async def _event(self, person: str, message: Message | None, **what: str) -> Content:
        assert self.listener is not None
        ref = {"room": message.room, "message": message.id} if message else {}
        notice = await self.listener({"id": f"e{next(self._ids)}", "person": person, **ref, **what})
        if notice.lines:
            check_content(notice)
        return notice

    def _next_fault(self) -> Fault | None:
        for fault in self.faults:
            if fault[1] is not None:
                fault[1] -= 1
                if not fault[1]:
                    self.faults.remove(fault)
            return fault[0]
        return None

    def _send(self, **message: Any) -> dict[str, Any]:
        self._room(message["room"])
        check_content(message["content"], message.get("tag", ""))
        return {"id": self.post(BOT, Message(id="", by="", at=0.0, **message)).id}

    def _edit(self, id: str, content: Content) -> dict[str, Any]:
        message = self._own(id)
        check_content(content)
        self.messages[id] = replace(message, content=content)
        return {}

    def _remove(self, id: str) -> dict[str, Any]:
        del self.messages[self._own(id).id]
        return {}

    def _show_home(self, person: str, content: Content) -> dict[str, Any]:
        if person not in self.people:
            raise Refusal("no_person")
        check_content(content)
        self.homes[person] = content
        return {}

    def _history(self, room: str, since: float, start: int = 0) -> dict[str, Any]:
        self._room(room)
        all_here = [
            {"id": one.id, "by": one.by, "tag": one.tag}
            for one in self.messages.values()
            if one.room == room and one.at >= since
        ]
        end = start + PAGE
        return {"messages": all_here[start:end], "next": end if all_here[end:] else None}

    def _person(self, id: str) -> dict[str, Any]:
        if id not in self.people:
            raise Refusal("no_person")
        person = self.people[id]
        return {"name": person.name, "kind": person.kind, "left": person.left}

    def _group(self, id: str) -> dict[str, Any]:
        if id not in self.groups:
            raise Refusal("no_group")
        return {"name": self.groups[id].name, "members": sorted(self.groups[id].members)}

    def _room_info(self, id: str) -> dict[str, Any]:
        room = self._room(id)
        return {"members": sorted(room.members - {BOT}), "size": len(room.members)}

    def _rooms(self) -> dict[str, Any]:
        rooms = [{"id": id, "name": room.name} for id, room in self.rooms.items()]
        return {"rooms": rooms}

    def _direct(self, person: str) -> dict[str, Any]:
        """The room of the bot and this person."""
        if self.people[person].left if person in self.people else True:
            raise Refusal("no_person")
        self.rooms.setdefault(f"d-{person}", Room(f"d-{person}", {person, BOT}))
        return {"id": f"d-{person}"}

    def _memberships(self, person: str) -> dict[str, Any]:
        rooms = [id for id, room in self.rooms.items() if person in room.members]
        groups = [id for id, group in self.groups.items() if person in group.members]
        return {"rooms": rooms, "groups": groups}

    def _room(self, id: str) -> Room:
        room = self.rooms.get(id)
        if room is None or BOT not in room.members:
            raise Refusal("no_room")
        if room.closed:
            raise Refusal("closed")
        return room

    def _own(self, id: str) -> Message:
        message = self.messages.get(id)
        if message is None or message.by != BOT:
            raise Refusal("no_message")
        return message


def check_content(content: Content, tag: str = "") -> None:
    """Raises Refusal."""
    if not content.lines or not content.fits:
        raise Refusal("too_long")
    if not all(line.isprintable() for line in content.lines):
        raise Refusal("bad_line")
    labels = [button.label for button in content.buttons]
    if len(set(labels)) < len(labels) or not all(0 < len(label) <= MAX_LABEL for label in labels):
        raise Refusal("bad_button")
    if len(tag) > MAX_TAG or any(len(button.token) > MAX_TOKEN for button in content.buttons):
        raise Refusal("too_long")


def mentions(line: str) -> list[str]:
    """The people whom a line mentions."""
    return [found for found in re.findall(r"@@|@(p-\w+)", line) if found]
