"""`hitl reviews show ID`: everything about one review."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.cli.session import add_id, add_redis, find_review, with_reviews
from hitl_core.cli.terminal import BOLD, Paint, say, say_field, say_json
from hitl_core.model import Place, Snapshot
from hitl_core.review import (
    HELD_TEXT,
    Reviews,
    agent_problem_of,
    cancel_reason_of,
    unrecorded_starts,
)
from hitl_core.store import LaneFailure, lane_failure, lane_of

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

Failures = Mapping[Place, LaneFailure]

_EPILOG = """\
examples:
  $ hitl reviews show 0-93b4c7d2
  $ hitl reviews show 0-93b4c7d2 --args | less
  $ hitl reviews show 0-93b4c7d2 --json | jq '.calls[].args'

The id is at the foot of every card. The calls are in the model's order; a call
that needs a review has the number that its card shows. A terminal cuts long
values, with a notice; a pipe and --json get the whole values.

Exits with 0; 1 if there is no such review, or several, 2 if the command or a
setting is wrong, 3 if Redis can't be reached.
"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "show",
        run,
        help="show one review: its calls, decisions, escalations, cards and results",
        epilog=_EPILOG,
    )
    add_id(parser)
    parser.add_argument("--args", action="store_true", help="show all arguments in full length")
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    snapshot, failures = with_reviews(args, lambda reviews: _load(reviews, args.id))
    if args.json:
        delays = [{"place": place, **one._asdict()} for place, one in failures.items()]
        say_json({**review_to_json(snapshot, with_args=True), "delays": delays})
    else:
        _say_review(snapshot, failures)
        rest = "--args" if sys.stdout.isatty() and not args.args else None
        for call in snapshot.review.calls:
            say()
            say_call(snapshot, call, rest=rest)
    return 0


async def _load(reviews: Reviews, id: str) -> tuple[Snapshot, Failures]:
    """The review, and why cards that are not posted wait."""
    snapshot = await find_review(reviews, id)
    posted = {place.base for place in snapshot.posts}
    missing = [place for place in snapshot.review.places if place not in posted]
    found = await asyncio.gather(*(lane_failure(reviews.store, lane_of(one)) for one in missing))
    pairs = zip(missing, found, strict=True)
    return snapshot, {place: failure for place, failure in pairs if failure}


def _say_review(snapshot: Snapshot, failures: Failures) -> None:
    review = snapshot.review
    waits = phrases.waiting_text(review)
    status = Paint(review.status, phrases.STATUS_COLOURS[review.status])
    say(Paint(review.id, BOLD), "  ", status, f": {waits}" if waits else "")
    for label, value in _fields(snapshot, failures):
        say_field(label, value)


def _fields(snapshot: Snapshot, failures: Failures) -> Iterator[tuple[str, str]]:
    review, now = snapshot.review, snapshot.now
    if snapshot.held:
        yield "held", HELD_TEXT
    for call in unrecorded_starts(snapshot):
        yield "started", f"call {call}: its agent says that it has started it"
    yield "agent", review.agent
    yield "thread", review.thread_id
    if review.turn:
        yield "turn", review.turn
    if review.path:
        yield "path", " > ".join(review.path)
    if review.requester:
        yield "requester", review.requester
    yield "submitted", phrases.time_text(review.created_at, now)
    if review.cancelled is not None:
        by = phrases.person_text(review.cancelled.by) if review.cancelled.by else "the agent"
        reason = cancel_reason_of(review)
        when = phrases.time_text(review.cancelled.at, now)
        yield "cancelled", f"by {by}, {when}{f': {phrases.quote(reason)}' if reason else ''}"
    if review.settled_at is not None:
        yield "settled", phrases.time_text(review.settled_at, now)
    if review.lease is not None:
        yield (
            "claimed",
            f"by {review.lease.holder}; its lease ends {phrases.time_text(review.lease.until, now)}",
        )
    if (problem := review.agent_problem) is not None:
        since = phrases.time_text(problem.since, now)
        yield "problem", f"its agent can't go on since {since}: {agent_problem_of(review)}"
    if review.done_at is not None:
        yield "done", phrases.time_text(review.done_at, now)
    for place in review.places:
        for copy in [one for one in snapshot.posts if one.base == place] or [place]:
            text = _card_text(snapshot, copy, failures.get(place))
            yield "card", f"{phrases.place_text(copy)}: {text}"


def _card_text(snapshot: Snapshot, place: Place, failure: LaneFailure | None) -> str:
    """Where the card is, or a member's copy, and its version. A card of an earlier version can be up to date,
    because internal changes also raise the version.
    """
    ref, card_version = snapshot.posts.get(place), snapshot.shown.get(place)
    problem = snapshot.review.delivery_problems.get(place.base)
    since = f", since {phrases.time_text(problem.since, snapshot.now)}" if problem else ""
    if ref is None:
        if problem is not None:
            return f"can't be shown: {problem.why}{since}"
        when = phrases.time_text(failure.at, snapshot.now) if failure else ""
        return f"not posted yet: {failure.why}, at {when}" if failure else "not posted yet"
    version = f", version {card_version} of {snapshot.review.version}" if card_version else ""
    problem_text = f"; {problem.why}{since}" if problem else ""
    return f"{ref.channel} {ref.conversation} {ref.ts}{version}{problem_text}"
