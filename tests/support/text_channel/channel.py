"""The channel: posts, finds and changes messages, and looks up places and people."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from bot.card import Card, PlaceNames, ThreadLine
from bot.channels.contract import (
    Audience,
    LookupFailed,
    MessageGone,
    NotFound,
    Pace,
    Person,
    Places,
    RateLimited,
    Undeliverable,
    Unreachable,
)
from bot.text import one_line
from hitl_core.model import DEFAULT_PLACE, MessageRef, Place, person_label

from . import render
from .network import BOT, Content, Network, NoAnswer, Refusal, TooFast

V = TypeVar("V")

NO_PLACE = {
    "no_room": "there is no such room, or the bot is not in it",
    "closed": "the room is closed",
    "no_person": "there is no such person",
    "no_group": "there is no such group, or nobody is in it",
}
KINDS = {"p-": "person", "g-": "group"}


class TextChannel:
    """`default` is the room for cards without a rule of their own."""

    name, label, team = render.NAME, "Text", "office"
    places: Places | None = None
    pace = Pace(message=0.1, update=0.1, update_burst=20)
    shows_names = True

    def __init__(self, network: Network, default: str) -> None:
        self._network, self._default = network, default
        #: Names by id. A room's name is an address as well, those of people and groups are only shown.
        self._rooms: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self.names = PlaceNames(self.name_of, lambda one: self.audience(one).kind == "conversation")

    async def start(self) -> None:
        rooms = await self._look_up("rooms", lambda answer: answer["rooms"])
        self._rooms = {room["id"]: f"#{room['name']}" for room in rooms}

    def audience(self, place: Place) -> Audience:
        target = place.member or place.target or self._default
        return Audience(cast(Any, KINDS.get(target[:2], "conversation")), target)

    def name_of(self, place: Place) -> str:
        elsewhere = self.places.name_elsewhere(place, self) if self.places else None
        if elsewhere is not None:
            return elsewhere
        target = self.audience(place).id
        return self._labels.get(target) or self._rooms.get(target, target)

    async def conversation_id(self, place: Place) -> str:
        audience = self.audience(place)
        match audience.kind:
            case "person":
                return await self._look_up(
                    "direct", lambda answer: answer["id"], person=audience.id
                )
            case "group":
                raise NotFound(f"{audience.id} is a group: each of its members gets an own message")
            case "conversation":
                ids = [id for id, name in self._rooms.items() if audience.id in (id, name)]
                if len(ids) != 1:
                    raise NotFound(f"{audience.id} is the name of {len(ids)} rooms")
                return ids[0]

    async def post(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, card, render.card_content(card, self.names))

    async def post_plain(self, place: Place, card: Card) -> MessageRef:
        return await self._post(place, card, render.plain_content(card))

    async def update(self, place: Place, ref: MessageRef, card: Card) -> None:
        await self._call("edit", id=ref.ts, content=render.card_content(card, self.names))

    async def reply(self, place: Place, ref: MessageRef, line: ThreadLine) -> None:
        content = render.thread_content(line, self.names)
        await self._call("send", room=ref.conversation, content=content, thread=ref.ts)

    async def show_home(self, person: str, content: Content) -> None:
        await self._call("show_home", person=person, content=content)

    async def find_messages(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        room, tag = await self.conversation_id(place), _tag(review_id, place)
        found: list[MessageRef] = []
        start: int | None = 0
        while start is not None:
            try:
                page = await self._look_up(
                    "history", lambda answer: (answer["messages"], answer["next"]),
                    room=room, since=since, start=start,
                )  # fmt: skip
            except RateLimited as limited:
                await asyncio.sleep(limited.pause())
                continue
            messages, start = page
            found += [
                _ref(room, one["id"]) for one in messages if (one["by"], one["tag"]) == (BOT, tag)
            ]
        return found

    async def delete(self, place: Place, ref: MessageRef) -> None:
        with suppress(MessageGone):
            await self._call("remove", id=ref.ts)

    async def announce(self, lines: Sequence[str]) -> None:
        room = await self.conversation_id(DEFAULT_PLACE)
        await self._call("send", room=room, content=render.notice(*map(one_line, lines)))

    async def check_place(self, place: Place) -> None:
        audience = self.audience(place)
        if audience.kind == "group" and not await self.group_members(audience.id):
            raise NotFound(NO_PLACE["no_group"])
        if audience.kind == "conversation":
            await self._look_up("room_info", _members, id=await self.conversation_id(place))
        if audience.kind == "person":
            person = await self.person(audience.id)
            if person is None or not person.active or person.kind == "bot":
                raise NotFound(NO_PLACE["no_person"])

    async def person(self, user_id: str) -> Person | None:
        try:
            person = await self._look_up(
                "person",
                lambda one: Person(user_id, one["name"], one["kind"], not one["left"]),
                id=user_id,
            )
        except NotFound:
            return None
        self._labels[user_id] = person_label(person.name, user_id)
        return person

    async def group_members(self, group_id: str) -> frozenset[str]:
        try:
            name, members = await self._look_up(
                "group", lambda one: (one["name"], _members(one)), id=group_id
            )
        except NotFound:
            return frozenset()
        self._labels[group_id] = person_label(name, group_id)
        return members

    async def conversation_members(self, conversation: str) -> frozenset[str]:
        return await self._look_up("room_info", _members, id=conversation)

    async def conversation_size(self, place: Place) -> int:
        room = await self.conversation_id(place)
        return await self._look_up("room_info", lambda one: int(one["size"]), id=room)

    async def audiences(self, person_id: str) -> frozenset[str]:
        rooms, groups = await self._look_up(
            "memberships", lambda one: (one["rooms"], one["groups"]), person=person_id
        )
        names = [self._rooms[room] for room in rooms if room in self._rooms]
        default = {f"place:{DEFAULT_PLACE}"} if self._default in (*rooms, *names) else set[str]()
        places = (f"place:{self.name}:{one}" for one in (person_id, *rooms, *names, *groups))
        groups = (f"group:{self.name}:{one}" for one in groups)
        return frozenset({f"user:{self.name}:{person_id}", *groups, *places, *default})

    async def _post(self, place: Place, card: Card, content: Content) -> MessageRef:
        room = await self.conversation_id(place)
        answer = await self._call(
            "send", room=room, content=content, tag=_tag(card.review_id, place)
        )
        if "id" not in answer:
            raise Unreachable("the answer to send can't be read")
        return _ref(room, answer["id"])

    async def _call(self, method: str, **args: Any) -> dict[str, Any]:
        try:
            return await self._network.call(method, **args)
        except TooFast as limited:
            raise RateLimited(limited.seconds) from limited
        except NoAnswer as error:
            raise Unreachable(f"{method} got no answer") from error
        except Refusal as refusal:
            code = str(refusal)
            if code == "no_message":
                raise MessageGone(code) from refusal
            raise (
                NotFound(NO_PLACE[code]) if code in NO_PLACE else Undeliverable(code)
            ) from refusal

    async def _look_up(self, method: str, read: Callable[[dict[str, Any]], V], **args: Any) -> V:
        try:
            return read(await self._call(method, **args))
        except NotFound:
            raise
        except (Undeliverable, LookupError, TypeError, ValueError) as error:
            raise LookupFailed(f"{method} failed: {error}") from error


def _members(answer: dict[str, Any]) -> frozenset[str]:
    return frozenset(answer["members"])


def _ref(room: str, id: str) -> MessageRef:
    return MessageRef(channel=TextChannel.name, conversation=room, ts=id)


def _tag(review_id: str, place: Place) -> str:
    return f"{review_id} {place}"
