"""Digests: one message for many reviews of one agent, where too many wait to be shown one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from hitl_core.model import MessageRef, Place, Snapshot

#: A digest takes further reviews for so long after its first ones, in seconds. Then a new message is posted:
#: people are not told of a change of one.
OPEN_FOR = 600.0
#: How many reviews one digest has at most: then a new one is made. The work for each change grows with it.
MAX_DIGEST = 200
_MARK = "digest:"


class Digest(NamedTuple):
    """`waiting` are the ids of the reviews that still wait here, in the order in which they should be shown;
    of them `new` are those that don't have the digest's `message` as theirs yet. `total`: how many there were
    in all. `closed`: it was given up, so its reviews get cards of their own.
    """

    id: str
    lane: str
    place: Place
    agent: str
    message: MessageRef | None
    waiting: tuple[str, ...]
    new: tuple[str, ...]
    total: int
    closed: bool = False


class Digests(Protocol):
    async def first_posts(self, lane: str, limit: int) -> list[tuple[str, Place]]:
        """The reviews and places of the first cards that wait in a lane, in its order."""
        ...

    async def add_to_digest(
        self, lane: str, place: Place, group: str, agent: str, review_ids: Sequence[str]
    ) -> str | None:
        """Take the first cards of these reviews, all of one partition and at most MAX_DIGEST, out of the lane
        and into the digest of this group. It is a new one if there is none of the last OPEN_FOR seconds that
        has room for them, or if that one's message is posted and nothing waits there any more: people may no
        longer look at it. A card that was begun or shown meanwhile stays.

        Returns the digest's id; None if no card was left. One step: each review has either its own job or
        the digest's.
        """
        ...

    async def digest(self, id: str) -> Digest | None:
        """Raises DigestUnreadable."""
        ...

    async def record_digest_message(
        self, id: str, ref: MessageRef, gone: MessageRef | None = None
    ) -> MessageRef:
        """Record the digest's message. The first one wins, and is returned; `gone`: see `record_post`. All
        that wait are `new` then.
        """
        ...

    async def finish_new(self, id: str, review_ids: Collection[str]) -> None:
        """These reviews have the digest's message as theirs."""
        ...

    async def update_digest(self, id: str, review_id: str, *, waits: bool) -> bool:
        """Record whether the review still waits, and queue the digest's message if that is a change. False if
        it waits and this digest will not show it: it must leave it.
        """
        ...

    async def redraw_digest(self, id: str) -> None:
        """Queue the digest's message."""
        ...

    async def leave_digest(self, id: str, place: Place, review_ids: Collection[str]) -> None:
        """Queue the first card of each of these reviews, which the digest shows no more, also if it has
        expired. They never come into a digest of this place again.
        """
        ...

    async def dissolve_digest(self, id: str, place: Place) -> None:
        """All that wait leave it, and it takes no more; also if it can't be read."""
        ...


def make_digest_id(partition: int, digits: str) -> str:
    """`digits`: 32 random hex digits."""
    return f"d{partition}-{digits}"


def digest_mark(place: Place, digest_id: str) -> str:
    """The review's mark (`Snapshot.marks`) that its card at this place is in a digest."""
    return f"{_MARK}{digest_id} {place}"


def alone_mark(place: Place) -> str:
    """The mark of a review whose card comes into no digest again."""
    return f"alone:{place}"


def digest_at(snapshot: Snapshot, place: Place) -> str | None:
    """The id of the digest that shows this review at this place; None if it has a card of its own."""
    for mark in snapshot.marks:
        if mark.startswith(_MARK):
            id, _, where = mark.removeprefix(_MARK).partition(" ")
            if where == place:
                return id
    return None
