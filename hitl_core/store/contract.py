"""The contract of a store: the durable truth. It compares versions and writes; it knows no rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, cast, get_args

from hitl_core.audit.ledger import Ledger
from hitl_core.model import Arguments, Event, MessageRef, Place, Review, Snapshot, Token

#: How many reviews are remembered that one person had a say in.
MAX_DECIDED = 200


#: A card that a person just changed is drawn before others that wait for up to this many seconds.
PEOPLE_HEAD_START = 600.0

#: What is to be done at one place of a review: `card`: show its newest state; `check`: draw its message once
#: more, whatever it shows; `sweep`: also delete other messages about it, of the time since `note`; `stray`:
#: delete the message `note` where it is a second one. `unknown` is a job of another version.
JobKind = Literal["card", "check", "sweep", "stray", "unknown"]
#: Which half of a lane: cards that were never shown, by the time of their submission; or all the others.
LaneHalf = Literal["post", "draw"]


class Job(NamedTuple):
    """One card that a bot has begun. `times` counts from 1: a higher one was begun by others before, first at
    `since` (0 where that is not known). `note` changes whenever the job comes once more; `token` says which
    of its beginnings this is. `member` is how it stands in its queue, in one of the partitions.
    """

    lane: str
    partition: int
    member: str
    kind: JobKind
    review_id: str
    place: Place
    note: str
    token: str
    attempts: int
    first_at: float


class Recheck(NamedTuple):
    """What to look at once more, `after` so many seconds. A `sweep` looks for messages since `note`."""

    kind: Literal["check", "sweep"]
    delay: float | None
    note: str = ""


class Backlog(NamedTuple):
    """How many cards wait for a bot now, and since when the first of them has; None where none does."""

    waiting: int
    oldest: float | None


def lane_of(place: Place) -> str:
    """The conversation of a place, with all of its threads; of a copy that of all copies."""
    return place.partition("/")[0].partition(">")[0]


def format_member(kind: JobKind, review_id: str, place: Place) -> str:
    """How a job stands in its queue. A place comes last, as it may have spaces."""
    return f"{kind} {review_id} {place}"


def parse_job(lane: str, partition: int, member: str, note: str, token: str) -> Job:
    """What `take` found."""
    kind, _, rest = member.partition(" ")
    review_id, _, place = rest.partition(" ")
    times, since, _ = token.split(" ")
    known = cast(JobKind, kind) if kind in get_args(JobKind) else "unknown"
    return Job(
        lane, partition, member, known, review_id, place, note, token, int(times), float(since)
    )


def head_start(event: Event) -> float:
    """By how many seconds the cards go before others after this event."""
    return PEOPLE_HEAD_START if event.by is not None else 0.0


def is_decision_event(event: Event) -> bool:
    """Whether its person had a say in the review by it."""
    return event.kind in ("voted", "edited", "decided", "resolved")


def delivery_event(review_id: str, place: Place, ref: MessageRef, now: float) -> Event:
    """The first message about this review at this place."""
    where = f"{ref.channel}:{ref.conversation}/{ref.ts}"
    return Event(kind="delivered", review_id=review_id, at=now, place=place, what=where)


class LiveReview(NamedTuple):
    """Where a review stands among those that are not done: when it was submitted, and its id."""

    submitted_at: float
    id: str


class Workload(NamedTuple):
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
    wakes_agent: bool
    chain: str = ""
    audiences_added: Collection[str] = ()
    audiences_removed: Collection[str] = ()


class WaitingPage(NamedTuple):
    """One page of what waits for some audiences, by id and time of submission, and how many there are of it
    altogether (beyond 1,000 of one audience: at least so many).
    """

    reviews: list[tuple[str, float]]
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

    async def record_refusal(self, review_id: str, event: Event) -> None:
        """Put what somebody tried and was refused into the review's audit, at the store's time. The same `op`
        twice in a row is one attempt. Nothing where there is no such review.
        """
        ...

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        """Keep where the card was posted. The first one wins, and becomes an entry of the audit, `delivered`;
        the answer is the winner.
        """
        ...

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        """Keep which version a card shows, never going back. The answer is the newest version shown."""
        ...

    async def record_mark(self, review_id: str, mark: str) -> bool:
        """Note something of it that is no decision (`Snapshot.marks`). True for whoever noted it first; who
        lost that answer never knows. Nothing where there is no review.
        """
        ...

    async def record_policy(self, agent: str, digest: str) -> str | None:
        """Keep by which policy this agent's calls are judged. The answer is the digest that was kept before,
        None where there was none; where it is another one, the audit has an entry `policy_changed` with both.
        """
        ...

    async def now(self) -> float: ...

    async def thread_reviews(self, thread_id: str) -> list[str]:
        """The ids of the thread's reviews, live ones first, each in the order of submission."""
        ...

    async def live_ids(self, limit: int = 100) -> list[str]:
        """The ids of the oldest reviews that are not done."""
        ...

    async def live_reviews(
        self, limit: int = 100, after: LiveReview | None = None
    ) -> list[LiveReview]:
        """The reviews that are not done, the oldest first, from behind the last of the page before. What a
        page costs depends on its length, and not on how many there are.
        """
        ...

    async def workload(self) -> Workload:
        """For metrics: cheap, however many there are."""
        ...

    async def waiting_reviews(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> WaitingPage:
        """The pending reviews that have one of these audiences, each once, the oldest first."""
        ...

    async def recent_decisions(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        """The reviews in which this reviewer (by key) last decided, voted or edited, and when: the latest
        first, the last 200 at most. Some may be gone by now.
        """
        ...

    async def due_reviews(self, limit: int = 100) -> list[str]:
        """Reviews at which a bot must look now. A peek: nothing is taken."""
        ...

    async def ready_reviews(self, agent: str, limit: int = 100) -> list[str]:
        """Reviews of this agent that may be claimed now, the longest waiting first. A peek as well."""
        ...

    async def agent_hints(self, agent: str, block: float) -> list[str]:
        """Review ids of this agent that changed since the last call, waiting `block` seconds at most.

        The first call sets the place from which it listens and answers at once with nothing.
        """
        ...

    async def changes(self, block: float) -> list[str]:
        """Review ids of any agent that changed since the last call, as `hints` has it."""
        ...

    async def lanes(self, limit: int = 100) -> list[str]:
        """The lanes in which something is to be done now, the longest waiting first."""
        ...

    async def lane_hints(self, block: float) -> list[str]:
        """Lanes in which something came since the last call of this process, waited for at most `block`
        seconds. Some may be missing: `lanes` is the truth.
        """
        ...

    async def hold_lanes(self, lanes: Sequence[str], bot: str, ttl: float) -> set[str]:
        """Which of these lanes are this bot's for `ttl` seconds: those that were, and those of nobody."""
        ...

    async def release_lane(self, lane: str, bot: str) -> None:
        """From now on it is nobody's."""
        ...

    async def take_job(self, lane: str, half: LaneHalf) -> Job | None:
        """Begin the first job of this half; None where there is none now. It waits there until it is
        finished: who takes again before that has it once more, with one time more.
        """
        ...

    async def finish_job(self, job: Job, check: Recheck | None = None) -> bool:
        """It is through. What came meanwhile waits on. False where another bot began it since: of two
        drawings nobody knows which one came last, so its message is checked at once. `check`: look at it
        once more later; without a time only in that case.
        """
        ...

    async def put_back_job(self, job: Job) -> None:
        """It is not through, and its bot leaves: that counts as one time only."""
        ...

    async def move_to_dead_letters(self, job: Job, why: str) -> None:
        """Move what can't be shown to the dead letters; nothing where it came once more meanwhile."""
        ...

    async def count_dead_letters(self) -> int:
        """How many reviews have dead letters: several of one review count as one."""
        ...

    async def requeue_dead_letters(self) -> int:
        """Put all dead letters back, as cards that were begun before. The answer is how many reviews they are
        of.
        """
        ...

    async def redraw(
        self,
        review_id: str,
        place: Place,
        kind: Literal["check", "stray"] = "check",
        note: str = "",
    ) -> None:
        """Ask the bots to look at this message soon. Asked twice it is done once. Nothing where there is no
        such review.
        """
        ...

    async def backlog(self) -> Backlog:
        """For metrics: cheap, however many there are."""
        ...

    async def reserve_slot(self, name: str, every: float, burst: int = 1) -> float:
        """In how many seconds it is the caller's turn to call a service that all bots share: one turn every
        so many seconds, of which `burst` may come at once. A turn that is not used is lost.
        """
        ...

    async def pause_slots(self, name: str, seconds: float) -> None:
        """The service said that it is nobody's turn for so long."""
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

    async def record_home_view(self, user: str, now: float) -> None:
        """This person has just looked at the app's home page. Forgotten an hour later."""
        ...

    async def home_viewers(self, since: float) -> list[str]:
        """Who looked at theirs at `since` or later, the latest first."""
        ...

    async def try_lock(self, name: str, ttl: float) -> bool:
        """True for one caller in `ttl` seconds: for what one replica does for all. One whose answer was lost
        is nobody's until then.
        """
        ...

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        """Say that this process lives, for `ttl` seconds."""
        ...

    async def is_alive(self, process: str) -> bool: ...

    async def close(self) -> None: ...
