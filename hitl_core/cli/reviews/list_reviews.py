"""`hitl reviews list`: the reviews that are not done, the oldest first."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, NamedTuple, get_args

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.cli.session import add_redis, live_ids, with_reviews
from hitl_core.cli.table import Cell, Column, say_table
from hitl_core.cli.terminal import RED, Paint, complain, note, say_json
from hitl_core.errors import StoreError
from hitl_core.model import Snapshot, Status, short_id

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_EPILOG = """\
examples:
  $ hitl reviews list
  ID          AGE  AGENT    THREAD  STATUS   WAITS
  0-6be0a9f1  2h   billing  t-42    settled  in doubt: charge_card
  0-93b4c7d2  3m   support  t-57    pending  send_email (2), run_sql
  $ hitl reviews list --agent billing --status pending | cut -f1

A terminal shows short ids, as the cards do; every command accepts them. In a
pipe each line is the whole id, time of submission, agent, thread, status and
what waits, separated by tabs. With --json: one array of objects as in `hitl
reviews show --json`, without the arguments.

Exits with 0, also if there are none; 2 if the command or a setting is wrong, 3
if Redis can't be reached or a stored review can't be read.
"""
_COLUMNS = (
    Column("ID"),
    Column("AGE"),
    Column("AGENT", can_cut=True),
    Column("THREAD", can_cut=True),
    Column("STATUS"),
    Column("WAITS", can_cut=True),
)
#: How many reviews are loaded at once. It is the number of the store's connections.
_BATCH_SIZE = 32


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "list",
        run,
        help="list the reviews that are not done, the oldest first",
        epilog=_EPILOG,
    )
    parser.add_argument("--agent", metavar="A", help="only reviews of this agent")
    parser.add_argument(
        "--thread", metavar="T", help="only reviews of this thread, also those that are done"
    )
    parser.add_argument(
        "--status", choices=get_args(Status), help="only this status; done needs --thread"
    )
    parser.add_argument(
        "--limit", metavar="N", type=_parse_count, default=30, help="at most N (default: 30)"
    )
    parser.add_argument(
        "--held", action="store_true", help="only those that are held because Redis lost writes"
    )
    parser.add_argument("--json", action="store_true", help="one JSON array, for programs")
    add_redis(parser)


class _Listing(NamedTuple):
    """`more`: there are more than the limit. `problems`: an error for each review that can't be read."""

    snapshots: list[Snapshot]
    more: bool
    problems: list[str]


def run(args: argparse.Namespace) -> int:
    if args.status == "done" and args.thread is None:
        return complain("Done reviews are only listed for one thread: add --thread.")
    listing = with_reviews(args, lambda reviews: _load_listing(reviews, args))
    if args.json:
        say_json([review_to_json(snapshot, with_args=False) for snapshot in listing.snapshots])
    else:
        say_table(_COLUMNS, _rows(listing.snapshots))
    if not listing.snapshots and not listing.problems:
        filters = (args.agent, args.thread, args.status, args.held or None)
        has_filter = any(each is not None for each in filters)
        note(
            "No review matches." if has_filter else "There is nothing to do: every review is done."
        )
    if listing.more:
        note(f"There are more than these {args.limit}: use --limit.")
    for problem in listing.problems:
        complain(problem)
    return 3 if listing.problems else 0


async def _load_listing(reviews: Reviews, args: argparse.Namespace) -> _Listing:
    store, listing = reviews.store, _Listing([], False, [])
    ids = live_ids(store) if args.thread is None else _thread_ids(reviews, args.thread)
    async for snapshot in _load_snapshots(reviews, ids, listing.problems):
        if _is_wanted(snapshot, args):
            if len(listing.snapshots) == args.limit:
                return listing._replace(more=True)
            listing.snapshots.append(snapshot)
    return listing


async def _thread_ids(reviews: Reviews, thread_id: str) -> AsyncIterator[str]:
    """Each id once. The store lists a review again if it becomes done meanwhile."""
    seen: set[str] = set()
    async for each in reviews.thread_reviews(thread_id):
        if each.id not in seen:
            seen.add(each.id)
            yield each.id


async def _load_snapshots(
    reviews: Reviews, ids: AsyncIterator[str], problems: list[str]
) -> AsyncIterator[Snapshot]:
    """The reviews with these ids. A review that can't be read (for example of a newer version) is reported in
    `problems`; a deleted one is left out.
    """
    while batch := [review_id async for review_id in _take_ids(ids, _BATCH_SIZE)]:
        loads = (reviews.store.load_outline(review_id) for review_id in batch)
        for result in await asyncio.gather(*loads, return_exceptions=True):
            if isinstance(result, StoreError):
                problems.append(str(result))
            elif isinstance(result, BaseException):
                raise result
            elif result is not None:
                yield result


async def _take_ids(ids: AsyncIterator[str], most: int) -> AsyncIterator[str]:
    for _ in range(most):
        try:
            yield await anext(ids)
        except StopAsyncIteration:
            return


def _is_wanted(snapshot: Snapshot, args: argparse.Namespace) -> bool:
    review = snapshot.review
    if args.status is None and args.thread is None and review.status == "done":
        return False  # it became done after the list of ids was read
    if args.held and not snapshot.held:
        return False
    return args.agent in (None, review.agent) and args.status in (None, review.status)


def _rows(snapshots: list[Snapshot]) -> list[list[Cell]]:
    return [_row(snapshot) for snapshot in snapshots]


def _row(snapshot: Snapshot) -> list[Cell]:
    review = snapshot.review
    waits = phrases.waiting_text(review)
    return [
        Cell(short_id(review.id), review.id),
        Cell(phrases.age(snapshot.now - review.created_at), phrases.timestamp(review.created_at)),
        Cell(review.agent),
        Cell(review.thread_id),
        Cell(
            Paint("held", RED)
            if snapshot.held
            else Paint(review.status, phrases.STATUS_COLOURS[review.status])
        ),
        Cell(Paint(waits, RED) if review.calls_in_doubt else waits),
    ]


def _parse_count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)
