"""`hitl reviews cancel ID`: the operator stops a review."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.reviews.change_review import find_or_drop, new_op, store_change
from hitl_core.cli.session import (
    add_id,
    add_redis,
    add_yes,
    confirm_change,
    confirmation_problem,
    operator,
    text_argument,
    with_reviews,
)
from hitl_core.cli.terminal import complain, note, say
from hitl_core.errors import Refused
from hitl_core.review import Cancel, apply_command, apply_unless_held

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_MORE = """\
People can't decide the review any more, none of its calls runs, not even one
that was already approved, and the agent is informed. It is too late when an
agent has claimed the review, or says that it has started a call. The command
can only stop calls, so it works without HITL_CLI_DECIDE. It counts as a
rejection of every call: if a rejection needs several people (reject_quorum), so
does this."""
_EPILOG = """\
examples:
  $ hitl reviews cancel 0-93b4c7d2 --reason "The agent is in a loop"
  $ hitl reviews list --agent billing --limit 10000 | cut -f1 |
      xargs -n1 hitl reviews cancel --yes

The audit names your login and this host; cards show "ada (command line)". You
are asked to confirm; scripts use --yes with the whole id.

Exits with 0; 1 if it was refused or not found, or if you answered no, 2 if the
command or a setting is wrong, 3 if Redis can't be reached.
"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "cancel",
        run,
        help="cancel a review before any of its calls runs",
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
    snapshot = with_reviews(args, lambda reviews: find_or_drop(reviews, args.id))
    if snapshot is None:
        return 0
    review = snapshot.review
    if review.calls_in_doubt:
        raise Refused("started", f"It is too late to cancel this: {phrases.doubt_text(review)}")
    command = Cancel(review.id, operator(), new_op(), args.reason)
    # Refuse before asking for the confirmation. For a held review the reason is one that a release doesn't
    # change.
    apply_command(snapshot, command)
    apply_unless_held(lambda one: apply_command(one, command), snapshot)
    calls = phrases.tool_names(review, review.calls)
    thread = phrases.agent_name(review.thread_id)
    about = f"{review.id}: {review.agent}, thread {thread}: {calls}"
    if not confirm_change(
        args, lambda: say(about, to=sys.stderr), "Cancel it?", "Nothing was cancelled."
    ):
        return 1
    applied = with_reviews(args, lambda reviews: store_change(reviews, command))
    if applied.review.cancelled is None:
        state = "is still held" if snapshot.held else "still waits"
        note(f"That is one vote: more people must cancel it. The review {state}.")
    else:
        say(f"cancelled {review.id}")
    return 0
