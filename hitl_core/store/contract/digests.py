"""Digests: one message for many reviews of one agent, where too many wait to be shown one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from hitl_core.model import MessageRef, Place, Snapshot

#: A digest takes further reviews for so long after its last one, in seconds; then a new message is posted.
OPEN_FOR = 600.0
_MARK = "digest:"


class Digest(NamedTuple):
    """`waiting` are the ids of the reviews that still wait here, in the order in which they should be shown;
    of them `new` are those that don't have the digest's `message` as theirs yet. `total`: how many there were
    in all.
    """

    id: str
    lane: str
    place: Place
    agent: str
    message: MessageRef | None
    waiting: tuple[str, ...]
    new: tuple[str, ...]
    total: int


class Digests(Protocol):
    async def first_posts(self, lane: str, limit: int) -> list[tuple[str, Place]]:
        """The reviews and places of the first cards that wait in a lane, in its order."""
        ...

    async def add_to_digest(
        self, lane: str, place: Place, group: str, agent: str, review_ids: Sequence[str]
    ) -> str | None:
        """Take the first cards of these reviews, all of one partition, out of the lane and into the digest of
        this group, which is a new one if there is none of the last OPEN_FOR seconds. A card that was begun or
        shown meanwhile stays. Returns the digest's id; None if no card was left. One step: each review has
        either its own job or the digest's.
        """
        ...

    async def digest(self, id: str) -> Digest | None: ...

    async def record_digest_message(
        self, id: str, ref: MessageRef, gone: MessageRef | None = None
    ) -> MessageRef:
        """Record the digest's message. The first one wins, and is returned; `gone`: see `record_post`."""
        ...

    async def finish_new(self, id: str, review_ids: Collection[str]) -> None:
        """These reviews have the digest's message as theirs."""
        ...

    async def update_digest(self, id: str, review_id: str, *, waits: bool) -> None:
        """Record whether the review still waits, and queue the digest's message if that is a change."""
        ...

    async def redraw_digest(self, id: str) -> None:
        """Queue the digest's message."""
        ...

    async def dissolve_digest(self, id: str) -> None:
        """Give the first cards of its waiting reviews back to the lane: the digest can't be shown. They never
        come into a digest again.
        """
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
