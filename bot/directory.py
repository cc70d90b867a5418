"""Who may decide: the members of a channel where the action stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from bot.channel import Channel, ChannelError
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place, Reviewer, Snapshot

#: A member who left is refused this many seconds later, at the latest.
MAX_AGE = 60.0
#: Somebody who joined is let in this many seconds later, at the latest.
MIN_AGE = 3.0


class Directory:
    def __init__(self, channel: Channel, team: str) -> None:
        self._channel, self._team = channel, team
        self._members: dict[str, tuple[float, frozenset[str]]] = {}
        self._looking: dict[str, asyncio.Task[frozenset[str]]] = {}

    def admit(self, who: Reviewer) -> None:
        """Raises Refused for people of other workspaces: before anything is read, so they learn nothing."""
        if who.team != self._team:
            raise Refused("not_permitted", "Only people of this workspace may decide.")

    async def check(self, who: Reviewer, snapshot: Snapshot, places: Iterable[Place]) -> None:
        """Raises Refused where this person may not decide what stands at these places, or nobody can tell."""
        self.admit(who)
        places = [place for place in places if place in snapshot.posts]
        if not places:
            told = "This message is still being noted down. Press again in a moment."
            raise Refused("unknown_members", told)
        for place in places:
            if await self._is_member(who.id, snapshot.posts[place]):
                return
        names = " or ".join(dict.fromkeys(map(self._channel.name_of, places)))
        raise Refused("not_permitted", f"Only members of {names} may decide this.")

    async def _is_member(self, user_id: str, ref: MessageRef) -> bool:
        if (known := self._members.get(ref.conversation)) is not None:
            since, members = known
            is_member = user_id in members
            if time.monotonic() - since < (MAX_AGE if is_member else MIN_AGE):
                return is_member
        try:
            # A click that can't wait any longer leaves the look-up going, for the next one.
            members = await asyncio.shield(self._looked_up(ref))
        except ChannelError as error:
            raise Refused(
                "unknown_members", "Who may decide could not be looked up just now. Press again."
            ) from error
        return user_id in members

    def _looked_up(self, ref: MessageRef) -> asyncio.Task[frozenset[str]]:
        """One at a time for each conversation."""

        async def look() -> frozenset[str]:
            try:
                members = await self._channel.members(ref)
                self._members[ref.conversation] = (time.monotonic(), members)
                return members
            finally:
                del self._looking[ref.conversation]

        if (looking := self._looking.get(ref.conversation)) is None:
            looking = self._looking[ref.conversation] = asyncio.create_task(look())
            # Where no click waits any more nobody else would take note of its failure.
            looking.add_done_callback(lambda task: task.cancelled() or task.exception())
        return looking
