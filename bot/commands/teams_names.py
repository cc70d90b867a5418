"""`hitl teams-names`: lists and forgets which conversation in Teams each place name leads to. A name always
leads to its first conversation, so that nobody takes over a place by taking its name. If that channel was
deleted and created again, an operator forgets the old one here.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hitl_core.cli import (
    Cell,
    Column,
    add_command,
    add_redis,
    add_subject,
    note,
    say,
    say_json,
    say_table,
    with_reviews,
)

from ..channels.pinned_names import PREFIX, pinned_names

if TYPE_CHECKING:
    from hitl_core.cli import Commands
    from hitl_core.review import Reviews

CHANNEL = "teams"

_LIST = """\
examples:
  $ hitl teams-names list
  NAME        CONVERSATION
  Operations  19:4a1f…@thread.tacv2
  $ hitl teams-names list --json

With --json: one array of {"name", "conversation"}.

Exits with 0, also if there are none; 2 if the command or a setting is wrong, 3
if Redis can't be reached.
"""
_FORGET = """\
example:
  $ hitl teams-names forget Operations

The next review for teams:Operations looks the name up again. Do this after the
channel was deleted and created again, or if the name must lead to another
channel. Running bots notice it within a minute.

Exits with 0; 1 if there is no such name, 2 if the command or a setting is
wrong, 3 if Redis can't be reached.
"""
_COLUMNS = (Column("NAME", can_cut=True), Column("CONVERSATION", can_cut=True))


def add_to(commands: Commands) -> None:
    """Add `hitl teams-names`."""
    names = add_subject(
        commands,
        "teams-names",
        help="list and forget where names of places in Teams lead",
        epilog="example:\n  $ hitl teams-names list\n",
    )
    list_parser = add_command(names, "list", _list, help="list all names", epilog=_LIST)
    list_parser.add_argument("--json", action="store_true", help="one JSON array, for programs")
    add_redis(list_parser)
    forget = add_command(names, "forget", _forget, help="forget a name", epilog=_FORGET)
    forget.add_argument("name", metavar="NAME", help="the name, from `hitl teams-names list`")
    add_redis(forget)


async def _load(reviews: Reviews) -> dict[str, str]:
    """The conversations, by name."""
    return pinned_names(await reviews.store.channel_values(CHANNEL))


def _list(args: argparse.Namespace) -> int:
    names = with_reviews(args, _load)
    if args.json:
        say_json([{"name": name, "conversation": id} for name, id in names.items()])
    else:
        say_table(_COLUMNS, [[Cell(name), Cell(id)] for name, id in names.items()])
    if not names:
        note("No name is kept: none was used yet.")
    return 0


def _forget(args: argparse.Namespace) -> int:
    async def forget(reviews: Reviews) -> str | None:
        if (found := (await _load(reviews)).get(args.name)) is not None:
            await reviews.store.drop_channel_value(CHANNEL, f"{PREFIX}{args.name}")
        return found

    if (conversation := with_reviews(args, forget)) is None:
        note(f"No such name is kept: {args.name}. See: hitl teams-names list")
        return 1
    say(f"forgot {args.name}: it led to {conversation}")
    return 0
