"""The contract of a store. A store compares versions and writes; it knows no rules of reviews."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, cast, get_args

from hitl_core.audit import Ledger
from hitl_core.model import Arguments, Event, MessageRef, Place, Review, Snapshot, Token

#: How many reviews with a decision of one person are remembered.
MAX_DECIDED = 200


#: After a person's click, the card goes before others that have waited for up to this many seconds.
PEOPLE_HEAD_START = 600.0

#: What to do with the card of a review at one place. `card`: show its newest state. `check`: update its
#: message again, even if it shows the newest state. `sweep`: the same, and delete other messages of this card
#: that were posted since `note`. `stray`: delete the message `note` if it is a duplicate. `unknown`: a job
#: that another version of this program wrote.
JobKind = Literal["card", "check", "sweep", "stray", "unknown"]
#: The two halves of a lane: cards that were never posted, in order of submission; and all other jobs.
LaneHalf = Literal["post", "draw"]


class Job(NamedTuple):
    """A job that a bot has started.

    `attempts` counts from 1: a higher number means that earlier attempts did not finish, the first of them at
    `first_at` (0 if not known). `note` changes when the job is added again meanwhile. `token` identifies this
    attempt. `member` is the job's text in its queue, in one of the partitions.
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
    """A later job at the same place, in `delay` seconds. A `sweep` looks for messages since `note`."""

    kind: Literal["check", "sweep"]
    delay: float | None
    note: str = ""


class Backlog(NamedTuple):
    """How many jobs wait for a bot now, and since when the oldest one waits; None if no job waits."""

    waiting: int
    oldest: float | None


def lane_of(place: Place) -> str:
    """The lane of a place: its conversation, with all threads and copies in it."""
    return place.partition("/")[0].partition(">")[0]


def format_member(kind: JobKind, review_id: str, place: Place) -> str:
    """A job's text in its queue. The place comes last, because it can contain spaces."""
    return f"{kind} {review_id} {place}"


def parse_job(lane: str, partition: int, member: str, note: str, token: str) -> Job:
    """The job that `take_job` has started."""
    kind, _, rest = member.partition(" ")
    review_id, _, place = rest.partition(" ")
    attempts, first_at, _ = token.split(" ")
    known = cast(JobKind, kind) if kind in get_args(JobKind) else "unknown"
    return Job(
        lane,
        partition,
        member,
        known,
        review_id,
        place,
        note,
        token,
        int(attempts),
        float(first_at),
    )


def head_start(event: Event) -> float:
    """How many seconds earlier than now a card is queued after this event."""
    return PEOPLE_HEAD_START if event.by is not None else 0.0


def is_decision_event(event: Event) -> bool:
    """Whether a person decided, voted or edited in this event."""
    return event.kind in ("voted", "edited", "decided", "resolved")


def delivery_event(review_id: str, place: Place, ref: MessageRef, now: float) -> Event:
    """The event of the first message about this review at this place."""
    where = f"{ref.channel}:{ref.conversation}/{ref.ts}"
    return Event(kind="delivered", review_id=review_id, at=now, place=place, what=where)


class LiveReview(NamedTuple):
    """A review that is not done. The fields are its sort key in the list of live reviews."""

    submitted_at: float
    id: str


class Workload(NamedTuple):
    """How much work there is: how many reviews are not done, when the oldest of them was submitted, and the
    earliest time that is due and in the past. None if there is none.
    """

    live: int
    oldest: float | None
    overdue: float | None


class Write(NamedTuple):
    """One transition to store: the new review, its event, and the new values of the indexes.

    `args` are the bytes that no earlier version had, by "key:revision". `due_at` is when a bot must look at
    the review next, `ready_at` is from when an agent may claim it; None removes the review from that index.
    With `wakes_agent` the agent's processes are woken at once.

    `chain` is the head of the review's audit as it was read (`Snapshot.chain`). `audiences_added` and
    `audiences_removed` are the changes to the review's audiences (`Review.audiences`).
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
    """One page of the reviews that wait for some audiences: id and time of submission. `total` is their
    number on all pages (if one audience has more than 1,000: a lower bound).
    """

    reviews: list[tuple[str, float]]
    total: int


class Store(Protocol):
    """Times are seconds since the epoch by the store's own clock.

    Every method raises StoreUnavailable when the store doesn't answer in time; a write that raised it may
    have happened. So every write is safe to repeat.
    """

    #: Over how many Redis hash tags the reviews are spread. The partition is part of every review id.
    partitions: int

    @property
    def ledger(self) -> Ledger: ...

    async def load(self, review_id: str) -> Snapshot | None: ...

    async def load_outline(self, review_id: str) -> Snapshot | None:
        """The same without arguments: `review.args` is empty. For code that looks at many reviews."""
        ...

    async def commit(self, write: Write) -> bool:
        """Store the review and return True, if the stored version is the one before and its audit ends at
        `chain`; else return False. The event becomes the next entry of the audit, unless its kind is not
        audited.

        Version 1 is a new review: it is stored if there is none with this id.
        """
        ...

    async def record_refusal(self, review_id: str, event: Event) -> None:
        """Add a refused attempt to the review's audit, at the store's time. The same `op` twice in a row is
        one attempt. Does nothing if there is no such review.
        """
        ...

    async def record_post(self, review_id: str, place: Place, ref: MessageRef) -> MessageRef:
        """Record the message in which the card was posted. The first message wins, becomes an entry
        `delivered` in the audit, and is returned.
        """
        ...

    async def record_shown_version(self, review_id: str, place: Place, version: int) -> int:
        """Record which version a card shows; it never goes back. Returns the newest recorded version."""
        ...

    async def record_mark(self, review_id: str, mark: str) -> bool:
        """Set a mark on the review (`Snapshot.marks`); a mark is not a decision. True for the caller that
        sets it first (a caller that loses this reply can't find out). Does nothing if there is no review.
        """
        ...

    async def record_policy(self, agent: str, digest: str) -> str | None:
        """Record the digest of this agent's policy. Returns the digest that was recorded before, or None. If
        it is a different one, an entry `policy_changed` with both is added to the audit.
        """
        ...

    async def now(self) -> float: ...

    async def thread_reviews(self, thread_id: str) -> list[str]:
        """The ids of the thread's reviews: live ones first, by submission; then done ones, by completion."""
        ...

    async def live_ids(self, limit: int = 100) -> list[str]:
        """The ids of the oldest reviews that are not done."""
        ...

    async def live_reviews(
        self, limit: int = 100, after: LiveReview | None = None
    ) -> list[LiveReview]:
        """The reviews that are not done, the oldest first. `after` is the last one of the page before. The
        cost of a page depends on its length, not on the number of reviews.
        """
        ...

    async def workload(self) -> Workload:
        """For metrics: cheap for any number of reviews."""
        ...

    async def waiting_reviews(
        self, audiences: Collection[str], limit: int = 100, offset: int = 0
    ) -> WaitingPage:
        """The pending reviews that have at least one of these audiences, each once, the oldest first."""
        ...

    async def recent_decisions(
        self, reviewer: str, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, float]]:
        """The reviews in which this reviewer (by key) decided, voted or edited, with the time: the latest
        first, at most 200. Some of these reviews may be deleted by now.
        """
        ...

    async def due_reviews(self, limit: int = 100) -> list[str]:
        """The reviews at which a bot must look now. Reads only: nothing is claimed."""
        ...

    async def ready_reviews(self, agent: str, limit: int = 100) -> list[str]:
        """The reviews of this agent that may be claimed now, the longest waiting first. Reads only."""
        ...

    async def agent_hints(self, agent: str, block: float) -> list[str]:
        """The ids of this agent's reviews that changed since the last call. Waits for at most `block`
        seconds.

        The first call only sets the position in the stream, and returns an empty list at once.
        """
        ...

    async def changes(self, block: float) -> list[str]:
        """The same as `agent_hints`, for the reviews of all agents."""
        ...

    async def lanes(self, limit: int = 100) -> list[str]:
        """The lanes that have a job to do now, the longest waiting first."""
        ...

    async def lane_hints(self, block: float) -> list[str]:
        """The lanes that got a job since the last call of this process. Waits for at most `block` seconds.
        Some may be missing; `lanes` has all.
        """
        ...

    async def hold_lanes(self, lanes: Sequence[str], bot: str, ttl: float) -> set[str]:
        """Hold these lanes for `ttl` seconds. Returns those that this bot holds now: a lane of another bot is
        left out.
        """
        ...

    async def release_lane(self, lane: str, bot: str) -> None:
        """Stop holding the lane, so that another bot can hold it."""
        ...

    async def take_job(self, lane: str, half: LaneHalf, skip: Collection[str] = ()) -> Job | None:
        """Start the first job of this half; None if there is none now. The job stays in the queue until it is
        finished: taken again before that, it is the same job with one attempt more.
        `skip` are members that stay in the queue.
        """
        ...

    async def finish_job(self, job: Job, check: Recheck | None = None) -> bool:
        """Finish the job. If the card changed meanwhile, its job stays in the queue. False if another bot has
        started a job of this card since: it is not known which message update came last, so `check` is queued
        at once. Otherwise `check` is queued after its delay; with no delay, not at all.
        """
        ...

    async def put_back_job(self, job: Job) -> None:
        """Give back an unfinished job, because the bot shuts down. Its attempts then count as one."""
        ...

    async def move_to_dead_letters(self, job: Job, why: str) -> None:
        """Move a job that can't be done to the dead letters. Keeps it in its queue if it was added again
        meanwhile.
        """
        ...

    async def count_dead_letters(self) -> int:
        """How many reviews have dead letters. Several dead letters of one review count as one."""
        ...

    async def requeue_dead_letters(self) -> int:
        """Put all dead letters back into their queues, as jobs with one earlier attempt. Returns the number
        of their reviews.
        """
        ...

    async def redraw(
        self,
        review_id: str,
        place: Place,
        kind: Literal["check", "stray"] = "check",
        note: str = "",
    ) -> None:
        """Queue a job for this message. The same job twice is done once. Does nothing if there is no such
        review.
        """
        ...

    async def backlog(self) -> Backlog:
        """For metrics: cheap for any number of jobs."""
        ...

    async def take_slot(self, name: str, every: float, burst: int = 1) -> float:
        """Take one call to a rate-limited service that all bots share: one slot every `every` seconds, of
        which up to `burst` can be used at once. Returns 0 if the caller may call now, else in how many
        seconds to ask again: then it has taken nothing.
        """
        ...

    async def pause_slots(self, name: str, seconds: float) -> None:
        """No new slot within the next `seconds`, because the service asked for a pause."""
        ...

    async def save_token(self, token: Token) -> None: ...

    async def token(self, token_id: str) -> Token | None: ...

    async def tokens(self) -> list[Token]:
        """The oldest first."""
        ...

    async def drop_token(self, token_id: str) -> bool:
        """Revoke the token. False if there was none."""
        ...

    async def save_draft(self, key: str, data: bytes, ttl: float) -> None:
        """Save what a person has typed so far, for `ttl` seconds. Anyone who knows the key can read it."""
        ...

    async def draft(self, key: str) -> bytes | None: ...

    async def drop_draft(self, key: str) -> None: ...

    async def record_home_view(self, user: str, now: float) -> None:
        """Record that this person has just opened the app's home page. Deleted after an hour."""
        ...

    async def home_viewers(self, since: float) -> list[str]:
        """The people who opened the home page at `since` or later, the latest first."""
        ...

    async def try_lock(self, name: str, ttl: float) -> bool:
        """True for one caller within `ttl` seconds: for work that one replica does for all. If the reply is
        lost, nobody has the lock until it ends.
        """
        ...

    async def send_heartbeat(self, process: str, ttl: float) -> None:
        """Mark this process as alive for `ttl` seconds."""
        ...

    async def is_alive(self, process: str) -> bool: ...

    async def close(self) -> None: ...
