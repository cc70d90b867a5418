"""The contract of a store: the durable truth. It compares versions and writes; it knows no rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from hitl_core.model import Arguments, Event, MessageRef, Place, Review, Snapshot, Token
from hitl_core.store.ledger import Ledger

#: How many reviews are remembered that one person had a say in.
DECIDED = 200


class Hint(NamedTuple):
    """An entry of the events: a bot must show this review at these places (None: the entry can't be read).
    `deliveries` counts from 1.
    """

    entry: str
    review_id: str
    places: tuple[Place, ...] | None = ()
    deliveries: int = 1


def merged(
    one: tuple[Place, ...] | None, two: tuple[Place, ...] | None
) -> tuple[Place, ...] | None:
    """The places of two hints about one review; None where neither can be read."""
    return two if one is None else tuple(dict.fromkeys((*one, *(two or ()))))


def has_say(event: Event) -> bool:
    """Whether its person had a say in the review by it."""
    return event.kind in ("voted", "edited", "decided")


def delivered(review_id: str, place: Place, ref: MessageRef, now: float) -> Event:
    """The first message about this review at this place."""
    where = f"{ref.channel}:{ref.conversation}/{ref.ts}"
    return Event(kind="delivered", review_id=review_id, at=now, place=place, what=where)


class Gauge(NamedTuple):
    """How much there is to do: how many reviews are not done, when the oldest of them was submitted, and
    since when the longest overdue one has been due. None where there is none.
    """

    live: int
    oldest: float | None
    overdue: float | None


class Write(NamedTuple):
    """One transition to store: the new review, what happened, and what the indexes must say.

    `args` are the bytes that no earlier version had, by "key:revision". `due_at` is when a bot must look
    next, `ready_at` from when an agent may claim; None takes the review out of that index. `wake` tells
    the agent's processes at once.

    `chain` is the head of the review's audit as it was read (`Snapshot.chain`). `joins` and `leaves` are the
    audiences (`Review.audiences`) that the review has now and had not before, and the other way round.
    """

    review: Review
    event: Event
    args: Mapping[str, Arguments]
    due_at: float | None
    ready_at: float | None
    wake: bool
    chain: str = ""
    joins: Collection[str] = ()
    leaves: Collection[str] = ()


class Waiting(NamedTuple):
    """One page of what waits for some audiences, by id and time of submission, and how many there are of it
    altogether (beyond 1,000 of one audience: at least so many).
    """

    found: list[tuple[str, float]]
    total: int


class Store(Protocol):
    """Times are seconds since the epoch by the store's own clock.

    Every method raises StoreUnavailable when the store can't be reached in time; a write that raised it
    may have happened. So every write is safe to repeat.
    """

    #: How many hash tags the reviews are spread over; part of every id.
    partitions: int

    @property
    def ledger(self) -> Ledger: ...

    async def load(self, review_id: str) -> Snapshot | None: ...

    async def commit(self, write: Write) -> bool:
        """Store the review if the stored version is the one before its own, and its audit ends where `chain`
        says; else False. What happened becomes the next entry of that audit, unless it is bookkeeping.

        Version 1 is a new review: stored where none of this id exists.
        """
        ...

    async def attempt(self, review_id: str, event: Event) -> None:
        """Put what somebody tried and was refused into the review's audit, at the store's time. The same `op`
        twice in a row is one attempt. Nothing where there is no such review.
        """
        ...

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        """Keep where the card was posted. The first one wins, and becomes an entry of the audit, `delivered`;
        the answer is the winner.
        """
        ...

    async def record_shown(self, review_id: str, place: Place, version: int) -> int:
        """Keep which version a card shows, never going back. The answer is the newest version shown."""
        ...

    async def record_mark(self, review_id: str, mark: str) -> bool:
        """Note something of it that is no decision (`Snapshot.marks`). True for whoever noted it first; who
        lost that answer never knows. Nothing where there is no review.
        """
        ...

    async def note_policy(self, agent: str, digest: str) -> str | None:
        """Keep by which policy this agent's calls are judged. The answer is the digest that was kept before,
        None where there was none; where it is another one, the audit has an entry `policy_changed` with both.
        """
        ...

    async def now(self) -> float: ...

    async def thread(self, thread_id: str) -> list[str]:
        """The ids of the thread's reviews, live ones first, each in the order of submission."""
        ...

    async def live(self, limit: int = 100, offset: int = 0) -> list[str]:
        """The ids of all reviews that are not done, the oldest first."""
        ...

    async def gauge(self) -> Gauge:
        """For metrics: cheap, however many there are."""
        ...

    async def waiting(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> Waiting:
        """The pending reviews that have one of these audiences, each once, the oldest first."""
        ...

    async def decided(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        """The reviews in which this reviewer (by key) last decided, voted or edited, and when: the latest
        first, the last 200 at most. Some may be gone by now.
        """
        ...

    async def due(self, limit: int = 100) -> list[str]:
        """Reviews at which a bot must look now. A peek: nothing is taken."""
        ...

    async def ready(self, agent: str, limit: int = 100) -> list[str]:
        """Reviews of this agent that may be claimed now, the longest waiting first. A peek as well."""
        ...

    async def hints(self, agent: str, block: float) -> list[str]:
        """Review ids of this agent that changed since the last call, waiting `block` seconds at most.

        The first call sets the place from which it listens and answers at once with nothing.
        """
        ...

    async def changes(self, block: float) -> list[str]:
        """Review ids of any agent that changed since the last call, as `hints` has it."""
        ...

    async def read_events(self, consumer: str, block: float, limit: int = 100) -> list[Hint]:
        """What the bots must show, each entry to one of them, until it is acknowledged."""
        ...

    async def reclaim_events(self, consumer: str, idle: float, limit: int = 100) -> list[Hint]:
        """Entries that another bot took and left for `idle` seconds: now this one's."""
        ...

    async def hold_events(self, consumer: str, entries: Sequence[str]) -> None:
        """Say that these entries are still being worked on."""
        ...

    async def leave_events(self, consumer: str) -> None:
        """This consumer reads no more: what it took and did not acknowledge is free for others at once."""
        ...

    async def ack_events(self, entries: Sequence[str]) -> None: ...

    async def bury(self, hint: Hint, why: str) -> None:
        """Move an entry that can't be delivered to the dead letters."""
        ...

    async def buried(self) -> int:
        """How many reviews have dead letters: several of one review count as one."""
        ...

    async def revive(self) -> int:
        """Put all dead letters back as events, with 2 deliveries: one a review, for the places of all of
        its letters. The answer is their number.
        """
        ...

    async def save_token(self, token: Token) -> None: ...

    async def token(self, token_id: str) -> Token | None: ...

    async def tokens(self) -> list[Token]:
        """The oldest first."""
        ...

    async def drop_token(self, token_id: str) -> bool:
        """From now on it opens nothing. False where there was none."""
        ...

    async def save_draft(self, key: str, data: bytes, ttl: float) -> None:
        """Keep what a person has typed so far, for `ttl` seconds. Whoever knows the key can read it."""
        ...

    async def draft(self, key: str) -> bytes | None: ...

    async def drop_draft(self, key: str) -> None: ...

    async def opened_home(self, user: str, now: float) -> None:
        """This person has just looked at the app's home page. Forgotten an hour later."""
        ...

    async def open_homes(self, since: float) -> list[str]:
        """Who looked at theirs at `since` or later, the latest first."""
        ...

    async def claim(self, name: str, ttl: float) -> bool:
        """True for one caller in `ttl` seconds: for what one replica does for all. One whose answer was lost
        is nobody's until then.
        """
        ...

    async def beat(self, process: str, ttl: float) -> None:
        """Say that this process lives, for `ttl` seconds."""
        ...

    async def alive(self, process: str) -> bool: ...

    async def close(self) -> None: ...
