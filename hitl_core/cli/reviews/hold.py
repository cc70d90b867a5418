"""`hitl reviews hold`: holds all reviews that are not done, until a person releases them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hitl_core.cli.command import add_command
from hitl_core.cli.session import add_redis, confirm_change, terminal_problem, with_reviews
from hitl_core.cli.terminal import complain, say

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_MORE = """\
Use it before you start bots and agents on a restored backup: then nobody can
decide, and nothing runs, until you release each review with `hitl reviews
release`. Bots and agents that still run find lost writes themselves, and hold
the reviews. If all of them are stopped, nobody finds them."""
_EPILOG = """\
examples:
  $ hitl reviews hold --yes
  held 12
  $ hitl reviews list --held

Exits with 0; 1 if you answered no, 2 if the command or a setting is wrong, 3 if
Redis can't be reached.
"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "hold",
        run,
        help="hold all reviews that are not done, after a restored backup",
        details=_MORE,
        epilog=_EPILOG,
    )
    parser.add_argument("--yes", action="store_true", help="don't ask for confirmation")
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    if problem := terminal_problem(args):
        return complain(problem)
    if not confirm_change(
        args, lambda: None, "Hold all reviews that are not done?", "Nothing was held."
    ):
        return 1
    held = with_reviews(args, lambda reviews: reviews.store.hold_live_reviews())
    say(f"held {held}")
    return 0
