"""`hitl reviews cancel ID`: an operator's stop."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.change_review import confirm_change, store_change
from hitl_core.cli.session import (
    add_id,
    add_redis,
    add_yes,
    confirmation_problem,
    find_review,
    operator,
    text_argument,
    with_reviews,
)
from hitl_core.cli.terminal import complain, note, say
from hitl_core.errors import Refused
from hitl_core.model import Review
from hitl_core.review import cancellation

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review.service import Reviews

_MORE = """\
Nobody is asked any more, nothing of it runs, not even what was approved
already, and its agent is told so. Once an agent has taken it up it is too late.
It can only stop, so it works without HITL_CLI_DECIDE. It is a no to all of
it: where a rejection takes several people (reject_quorum), so does this."""
_EPILOG = """\
examples:
  $ hitl reviews cancel 0-93b4c7d2 --reason "The agent runs wild"
  $ hitl reviews list --agent billing --limit 10000 | cut -f1 |
      xargs -n1 hitl reviews cancel --yes

The record names your login and this host; cards say "ada (command line)". You
are asked first; scripts say --yes, and then the whole id.

Exits with 0; 1 where it was refused, was not found, or you said no, 2 where
the command or a setting is wrong, 3 where Redis can't be reached.
"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "cancel",
        run,
        help="withdraw a review before anything of it runs",
        details=_MORE,
        epilog=_EPILOG,
    )
    add_id(parser)
    parser.add_argument(
        "--reason", metavar="TEXT", type=text_argument, help="why, for the people and for the agent"
    )
    add_yes(parser)
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    if problem := confirmation_problem(args):
        return complain(problem)
    snapshot = with_reviews(args, lambda reviews: find_review(reviews, args.id))
    review = snapshot.review
    if review.calls_in_doubt:
        raise Refused("started", f"It is too late to cancel this: {phrases.doubt_text(review)}")
    cancellation.cancel(
        review, operator(), args.reason, snapshot.now
    )  # refused before anybody is asked
    calls = phrases.tool_names(review, review.calls)
    about = f"{review.id}: {review.agent}, thread {review.thread_id}: {calls}"
    if not confirm_change(
        args, lambda: say(about, to=sys.stderr), "Cancel it?", "Nothing was cancelled."
    ):
        return 1
    after = with_reviews(args, lambda reviews: _cancel(reviews, review.id, args.reason))
    if after.cancelled is None:
        note("That is one vote: it takes more people who cancel it. It still waits.")
    else:
        say(f"cancelled {review.id}")
    return 0


async def _cancel(reviews: Reviews, review_id: str, reason: str | None) -> Review:
    cancel = partial(reviews.cancel, review_id, operator(), reason)
    return (await store_change(cancel)).review
