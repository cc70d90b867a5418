"""The bots' jobs: each shows or updates one card at one place."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast, get_args

from hitl_core.model import DEFAULT_PLACE, Event, Place, is_review_id

#: In seconds. After a person's click, the card comes before others that have waited for less than this.
PEOPLE_HEAD_START = 600.0

#: What to do with the card of a review at one place. `card`: show its newest state. `check`: update its
#: message, even if it shows the newest state. `sweep`: like `check`, and delete other messages of this card
#: that were posted since `note`. `stray`: delete the message `note` if it is a duplicate. `digest`: like
#: `card`, but for a digest; the job has the digest's id in place of the review's. `newer`: a kind that
#: this version doesn't know. `unknown`: a job that is damaged.
JobKind = Literal["card", "check", "sweep", "stray", "digest", "newer", "unknown"]
#: The kinds of job that `redraw` queues.
RedrawKind = Literal["card", "check", "stray", "digest"]
#: The prefix of a member in the queue whose job was added with a delay.
LATER = "later-"
#: The two halves of a lane: cards that were never posted, in order of `Write.show_by`; and all other jobs.
LaneHalf = Literal["post", "draw"]


class Job(NamedTuple):
    """A job that a bot has started.

    - `attempts` counts from 1. If it is higher, earlier attempts did not finish; the first began at
      `first_at` (0 if not known);
    - `note` changes when the job is added again meanwhile;
    - `token` identifies this attempt;
    - `member` is the job's text in its queue, in one of the partitions;
    - `half`: which half of the lane does it.
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
    half: LaneHalf = "post"


class Recheck(NamedTuple):
    """A job to add at the same place in `delay` seconds. A `sweep` looks for messages since `note`."""

    kind: Literal["check", "sweep"]
    delay: float | None
    note: str = ""


class Backlog(NamedTuple):
    """How many jobs wait for a bot now, and since when the oldest one waits; None if no job waits."""

    waiting: int
    oldest: float | None


def lane_of(place: Place) -> str:
    """The lane of a place: its conversation, with all threads and members' copies in it."""
    return place.conversation


def format_member(kind: JobKind, review_id: str, place: Place) -> str:
    """A job's text in its queue. The place comes last, because it can contain spaces."""
    return f"{kind} {review_id} {place}"


def later_member(kind: JobKind, review_id: str, place: Place) -> str:
    """The member of a later job. It is a job of its own, so one without a delay does not replace it."""
    return LATER + format_member(kind, review_id, place)


def letter_member(job: Job) -> str:
    """The member of a failed job as a dead letter. All jobs of a card become `card`, which does everything
    that the others do.
    """
    if job.kind == "unknown":
        return job.member
    return format_member("card", job.review_id, job.place)


def parse_job(
    lane: str, partition: int, member: str, note: str, token: str, half: LaneHalf = "post"
) -> Job:
    """The job that `take_job` has started."""
    kind, _, rest = member.partition(" ")
    review_id, _, where = rest.partition(" ")
    attempts, first_at, _ = token.split(" ")
    kind = kind.removeprefix(LATER)
    known = cast(JobKind, kind) if kind in get_args(JobKind) else "newer"
    if not (is_review_id(review_id.removeprefix("d")) and kind.isidentifier()):
        known = "unknown"
    try:
        place = Place(where)
    except ValueError:
        known, place = "unknown", DEFAULT_PLACE
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
        half,
    )


def head_start(event: Event) -> float:
    """How many seconds before now a card is queued after this event, to pass others."""
    return PEOPLE_HEAD_START if event.by is not None else 0.0
