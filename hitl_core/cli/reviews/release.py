"""`hitl reviews release ID`: lets a held review continue."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.change_review import (
    drop_missing,
    find_or_drop,
    new_op,
    show_calls,
    store_change,
)
from hitl_core.cli.session import (
    add_redis,
    add_yes,
    confirm_change,
    confirmation_problem,
    operator,
    terminal_problem,
    with_reviews,
)
from hitl_core.cli.terminal import complain, note, say
from hitl_core.errors import Refused, ReviewNotFound, StoreError
from hitl_core.review import Release

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_MORE = """\
Reviews are held when Redis lost writes: after a crash, a failover or an old
backup, what is stored of them may be older than what people decided and what
agents ran. Look first at what happened: the cards' threads, the agents' logs,
the systems that the tools change. A released review continues exactly as it is
stored. A call that an agent says it has started is in doubt: people are asked
whether it ran. To stop a review instead, use `hitl reviews cancel`."""
_EPILOG = """\
examples:
  $ hitl reviews list --held
  $ hitl reviews release 0-93b4c7d2
  $ hitl reviews release --all

The audit names your login and this host. You are asked to confirm; scripts use
--yes with the whole id.

Exits with 0; 1 if it is not held or not found, if one of --all can't be
released, or if you answered no, 2 if the command or a setting is wrong, 3 if
Redis can't be reached.
"""
_QUESTION = "Its calls may have run already. Let it continue as it is stored?"
_PAGE = 1000


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "release",
        run,
        help="let a review continue that is held because Redis lost writes",
        details=_MORE,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="the review's id, or its beginning as a card shows it"
    )
    parser.add_argument("--all", action="store_true", help="all held reviews, in place of an ID")
    add_yes(parser)
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    if args.all == (args.id is not None):
        return complain("Name one review, or use --all.")
    return _release_all(args) if args.all else _release_one(args)


def _release_one(args: argparse.Namespace) -> int:
    if problem := confirmation_problem(args):
        return complain(problem)
    snapshot = with_reviews(args, lambda reviews: find_or_drop(reviews, args.id))
    if snapshot is None:
        return 0
    review = snapshot.review
    if not snapshot.held:
        raise Refused("not_waiting", f"{review.id} is not held, so there is nothing to release.")
    if not confirm_change(
        args, lambda: show_calls(snapshot, review.calls), _QUESTION, "Nothing was released."
    ):
        return 1
    with_reviews(args, lambda reviews: _release(reviews, review.id))
    return 0


def _release_all(args: argparse.Namespace) -> int:
    if problem := terminal_problem(args):
        return complain(problem)
    count = with_reviews(args, lambda reviews: reviews.store.check_history()).held
    if not count:
        note("No review is held.")
        return 0
    if not confirm_change(
        args,
        lambda: say(f"{count} reviews are held.", to=sys.stderr),
        "Their calls may have run already. Let all continue as they are stored?",
        "Nothing was released.",
    ):
        return 1

    failed = with_reviews(args, _release_each)
    return 1 if failed else 0


async def _release_each(reviews: Reviews) -> bool:
    """Release each. Returns whether one failed; its error is printed, and the others are released."""
    failed = False
    async for review_id in _list_held(reviews):
        try:
            await _release(reviews, review_id)
        except (StoreError, ReviewNotFound, Refused) as error:
            if isinstance(error, ReviewNotFound) and await drop_missing(reviews, review_id):
                continue
            complain(f"{review_id}: {error}")
            failed = True
    return failed


async def _list_held(reviews: Reviews) -> AsyncIterator[str]:
    """The ids of all held reviews, each once: those that can't be released stay in front of the others."""
    seen = set[str]()
    while page := [
        one for one in await reviews.store.held_reviews(_PAGE + len(seen)) if one.id not in seen
    ]:
        for one in page:
            seen.add(one.id)
            yield one.id


async def _release(reviews: Reviews, review_id: str) -> None:
    after = (await store_change(reviews, Release(review_id, operator(), new_op()))).review
    doubt = f" ({phrases.doubt_text(after)})" if after.calls_in_doubt else ""
    say(f"released {after.id}{doubt}")
