"""The look-ups of one channel: its people, groups and members, cached."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Hashable
from copy import copy
from typing import Generic, TypeVar, assert_never

from hitl_core.model import MessageRef, Place, Snapshot

from ..channels.contract import Channel, LookupFailed, NotFound, Person

#: After a person lost a permission, they are refused after this many seconds at the latest.
MAX_AGE = 60.0
#: After a person got a permission, they are accepted after this many seconds at the latest.
MIN_AGE = 3.0
#: The members of a larger conversation are not looked up: the policy must name reviewers.
MAX_MEMBERS = 1000
#: How long the size of a conversation is cached, in seconds.
SIZE_MAX_AGE = 600.0


def sized_mark(place: Place) -> str:
    """The mark of a review whose place was small enough when its members got a right."""
    return f"sized:{place}"


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Lookups:
    """Methods raise ChannelError if a look-up fails. Values are cached for MAX_AGE seconds; the `forget_`
    methods remove changed values. Before anything follows from a "no", it must be `fresh`.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._people: Cache[str, Person | None] = Cache(channel.person)
        self._groups: Cache[str, frozenset[str]] = Cache(channel.group_members)
        self._members: Cache[str, frozenset[str]] = Cache(channel.conversation_members)
        self._sizes: Cache[Place, int] = Cache(channel.conversation_size)
        self._is_fresh = False

    @property
    def fresh(self) -> Lookups:
        """The same look-ups, with values that are at most MIN_AGE seconds old."""
        fresh = copy(self)
        fresh._is_fresh = True
        return fresh

    async def find(self, ask: Callable[[Lookups], Awaitable[T]]) -> T:
        """The result of `ask` with these look-ups. Its NotFound counts only if it is fresh."""
        try:
            return await ask(self)
        except NotFound:
            return await ask(self.fresh)

    def _age(self, most: float = 0.0) -> float:
        return MIN_AGE if self._is_fresh else most or MAX_AGE

    async def person(self, user_id: str) -> Person | None:
        """None if there is no such person."""
        return await self._people.get(user_id, self._age())

    async def is_member(self, user_id: str) -> bool:
        """Whether this is an active member of the bot's own team, not a guest."""
        person = await self.person(user_id)
        return person is not None and person.active and person.kind == "member"

    async def is_active(self, user_id: str) -> bool:
        """Whether this is an active person, not a bot."""
        person = await self.person(user_id)
        return person is not None and person.can_act

    async def group_members(self, group: str) -> frozenset[str]:
        """The ids of the members; empty for a deleted or disabled group."""
        return await self._groups.get(group, self._age())

    async def place_members(self, place: Place, snapshot: Snapshot) -> Collection[str]:
        """The ids of the people whom a place reaches. For a conversation with a posted card, these are its
        current members, even if another conversation has the place's name now. Raises NotFound for a
        conversation that does not exist, or whose members have no right because it was too large, and
        LookupFailed for one without a card that is too large to look up its members.
        """
        audience = self.channel.audience(place)
        match audience.kind:
            case "person":
                return [audience.id]
            case "group":
                return await self.group_members(audience.id)
            case "conversation":
                if (ref := snapshot.posts.get(place)) is not None:
                    if await self._was_too_large(place, ref, snapshot):
                        raise NotFound(f"{self.channel.name_of(place)} is too large")
                    return await self._members.get(ref.conversation, self._age())
                if size := await self._size_above_limit(place):
                    raise LookupFailed(f"{self.channel.name_of(place)} has {size:,} members")
                conversation = await self.channel.conversation_id(place)
                return await self._members.get(conversation, self._age())
            case _:
                assert_never(audience.kind)

    async def check_size(self, place: Place) -> None:
        """Raises NotFound if the bot can't use a conversation, or can't look up its members: it is too
        large.
        """
        if size := await self._size_above_limit(place):
            name = self.channel.name_of(place)
            raise NotFound(f"{name} has {size:,} members: the policy must name “reviewers”")

    async def _size_above_limit(self, place: Place) -> int:
        """The size of a conversation, or 0 if its members can be looked up."""
        size = await self._sizes.get(place, self._age(SIZE_MAX_AGE))
        return size if size > MAX_MEMBERS else 0

    async def is_place_member(self, user_id: str, snapshot: Snapshot, place: Place) -> bool:
        """Whether a place reaches this person. For a conversation, the card must be posted, and the
        conversation must not have been too large when its members got the right; a mark says that this was
        checked.
        """
        audience = self.channel.audience(place)
        match audience.kind:
            case "person":
                return audience.id == user_id
            case "group":
                return await self.is_in_group(audience.id, user_id)
            case "conversation":
                ref = snapshot.posts.get(place)
                if ref is None or not await self._is_in(ref.conversation, user_id):
                    return False
                return not await self._was_too_large(place, ref, snapshot)
            case _:
                assert_never(audience.kind)

    async def _was_too_large(self, place: Place, ref: MessageRef, snapshot: Snapshot) -> bool:
        """Whether this conversation, in which the card was posted, was too large when its members got a
        right. If that was not checked, its size now counts.
        """
        if sized_mark(place) in snapshot.marks:
            return False
        return bool(await self._size_above_limit(Place(f"{self.channel.name}:{ref.conversation}")))

    async def is_in_group(self, group: str, user_id: str) -> bool:
        """Whether this person is in the group. A person who is not in the cached list is looked up again,
        because they may just have been added.
        """
        for lookups in (self, self.fresh):
            if user_id in await lookups.group_members(group):
                return True
        return False

    async def _is_in(self, conversation: str, user_id: str) -> bool:
        for age in (self._age(), MIN_AGE):
            if user_id in await self._members.get(conversation, age):
                return True
        return False

    def forget_person(self, user_id: str) -> None:
        self._people.forget(user_id)

    def forget_group(self, group_id: str) -> None:
        self._groups.forget(group_id)

    def forget_members(self, conversation: str) -> None:
        self._members.forget(conversation)


V = TypeVar("V")

#: The most values of a cache. When there are more, the cache is cleared.
MAX_VALUES = 20_000


class Cache(Generic[K, V]):
    """Values with a maximum age. There is at most one look-up of a key at a time. `lookup` fetches the value
    of a key. Its error is raised in all callers that wait for it.
    """

    def __init__(self, lookup: Callable[[K], Awaitable[V]]) -> None:
        self._lookup = lookup
        self._values: dict[K, tuple[float, V]] = {}
        self._pending: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, max_age: float) -> V:
        """The value, at most `max_age` seconds old. If the caller is cancelled, the look-up continues."""
        entry = self._values.get(key)
        if entry is not None and time.monotonic() - entry[0] < max_age:
            return entry[1]
        return await asyncio.shield(self._start_lookup(key))

    def forget(self, key: K) -> None:
        """Remove the value. A look-up in progress still answers its callers, but its result is not cached."""
        self._values.pop(key, None)
        self._pending.pop(key, None)

    def _start_lookup(self, key: K) -> asyncio.Task[V]:
        async def load() -> V:
            # The age counts from the start of the look-up: the value may change while it runs.
            me, started_at = asyncio.current_task(), time.monotonic()
            try:
                value = await self._lookup(key)
                if self._pending.get(key) is me:
                    if len(self._values) >= MAX_VALUES:
                        self._values.clear()
                    self._values[key] = (started_at, value)
                return value
            finally:
                if self._pending.get(key) is me:
                    del self._pending[key]

        if (task := self._pending.get(key)) is None:
            task = self._pending[key] = asyncio.create_task(load())
            # Without this, asyncio logs an error for which no caller waits.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task
