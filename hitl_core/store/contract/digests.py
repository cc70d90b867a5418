"""Digests: one message for many reviews of one agent, where too many wait to be shown one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from hitl_core.model import MessageRef, Place, Snapshot

#: A digest takes more reviews for this many seconds after its first ones. Then a new message is posted,
#: because people get no notice when a message is only updated.
OPEN_FOR = 600.0
#: The most reviews of one digest. For more a new one is made, because the work of each change grows with
#: their number.
MAX_DIGEST = 200
_MARK = "digest:"


class Digest(NamedTuple):
    """One digest message and its reviews.

    - `waiting`: the ids of the reviews that still wait here, in the order in which they should be shown;
    - `new`: those of `waiting` for which the digest's `message` is not recorded yet;
    - `total`: the number of all reviews that it had;
    - `closed`: it takes no more reviews, and those that waited get cards of their own.
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
        """The reviews and places of the first cards that wait in a lane, in its order. Without those of a
        partition that is missing now.
        """
        ...

    async def add_to_digest(
        self, lane: str, place: Place, group: str, agent: str, review_ids: Sequence[str]
    ) -> str | None:
        """Move the first cards of these reviews from the lane into the digest of this group. The reviews are
        of one partition and at most MAX_DIGEST. A new digest is made if there is none of the last OPEN_FOR
        seconds with space for them, or if its message is posted and nothing waits there any more: people may
        no longer look at it. A card that a bot has begun or shown meanwhile stays in the lane.

        Returns the digest's id; None if no card was left. This is one step: each review always has either its
        own job or the digest's job.
        """
        ...

    async def digest(self, id: str) -> Digest | None:
        """Raises DigestUnreadable."""
        ...

    async def record_digest_message(
        self, id: str, ref: MessageRef, gone: MessageRef | None = None
    ) -> MessageRef:
        """Record the digest's message. The first one wins, and is returned; `gone`: see `record_post`. After
        that, all waiting reviews are `new`.
        """
        ...

    async def finish_new(self, id: str, review_ids: Collection[str]) -> None:
        """Record that these reviews have the digest's message as their own, so they are no longer `new`."""
        ...

    async def update_digest(self, id: str, review_id: str, *, waits: bool) -> bool:
        """Record whether the review still waits, and queue the digest's message if that changed. False if the
        review waits but this digest will not show it: then it must leave the digest.
        """
        ...

    async def redraw_digest(self, id: str) -> None:
        """Queue the digest's message."""
        ...

    async def leave_digest(self, id: str, place: Place, review_ids: Collection[str]) -> None:
        """Remove these reviews from the digest, and queue the first card of each, also if it has expired.
        They never come into a digest of this place again.
        """
        ...

    async def dissolve_digest(self, id: str, place: Place) -> None:
        """Remove all waiting reviews from the digest, as `leave_digest` does, and close it, even if it can't
        be read.
        """
        ...


def make_digest_id(partition: int, digits: str) -> str:
    """`digits`: 32 random hex digits."""
    return f"d{partition}-{digits}"


def digest_mark(place: Place, digest_id: str) -> str:
    """The mark (`Snapshot.marks`) of a review whose card at this place is in this digest."""
    return f"{_MARK}{digest_id} {place}"


def alone_mark(place: Place) -> str:
    """The mark of a review whose card at this place never comes into a digest again."""
    return f"alone:{place}"


def digest_at(snapshot: Snapshot, place: Place) -> str | None:
    """The id of the digest that shows this review at this place; None if it has a card of its own."""
    for mark in snapshot.marks:
        if mark.startswith(_MARK):
            id, _, where = mark.removeprefix(_MARK).partition(" ")
            if where == place:
                return id
    return None
