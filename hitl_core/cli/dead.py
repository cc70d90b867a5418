"""`hitl dead list|retry|drop`: the dead letters, which are cards that could not be shown."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.session import (
    add_redis,
    confirm_change,
    operator,
    terminal_problem,
    text_argument,
    with_reviews,
)
from hitl_core.cli.table import Cell, Column, say_table
from hitl_core.cli.terminal import complain, note, say, say_json
from hitl_core.model import Event, is_review_id, short_id

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.model import EventKind
    from hitl_core.review import Reviews
    from hitl_core.store import DeadLetter

_LIST = """\
examples:
  $ hitl dead list
  ID                 AGE  REVIEW      CARD               WHY
  0:1763923981234-0  2h   0-6be0a9f1  slack:#gone        channel_not_found
  $ hitl dead list --json

In a pipe each line is id, time, review, card and reason, separated by tabs.
With --json: one array of {"id", "at", "review_id", "job", "place", "why"}.

Exits with 0, also if there are none; 2 if the command or a setting is wrong, 3
if Redis can't be reached.
"""
_RETRY = """\
examples:
  $ hitl dead retry 0:1763923981234-0
  $ hitl dead retry --all

The bot also tries all of them every five minutes and at each start. The audit
of the review names your login and this host.

Exits with 0; 1 if there is no such dead letter, 2 if the command or a setting
is wrong, 3 if Redis can't be reached.
"""
_DROP_MORE = """\
The bot doesn't try to show this card again, unless its review changes. The
review is unchanged: what waits there still waits, on its other cards, on Home,
in /approvals and here. To end the review, use `hitl reviews cancel`."""
_DROP = """\
examples:
  $ hitl dead drop 0:1763923981234-0 --reason "The channel is gone"
  $ hitl dead drop 0:1763923981234-0 --yes

The audit of the review names your login and this host. You are asked to
confirm; scripts use --yes.

Exits with 0; 1 if there is no such dead letter or you answered no, 2 if the
command or a setting is wrong, 3 if Redis can't be reached.
"""
_COLUMNS = (
    Column("ID"),
    Column("AGE"),
    Column("REVIEW"),
    Column("CARD", can_cut=True),
    Column("WHY", can_cut=True),
)
#: The most letters that are listed; how many are read at once to retry all.
_LIMIT = 10_000


def add_to(commands: Commands) -> None:
    list_parser = add_command(
        commands, "list", _list, help="list what could not be shown, the oldest first", epilog=_LIST
    )
    list_parser.add_argument("--json", action="store_true", help="one JSON array, for programs")
    add_redis(list_parser)
    retry = add_command(
        commands, "retry", _retry, help="let the bot try again at once", epilog=_RETRY
    )
    which = retry.add_mutually_exclusive_group(required=True)
    which.add_argument("id", metavar="ID", nargs="?", help="its id, from `hitl dead list`")
    which.add_argument("--all", action="store_true", help="all of them")
    add_redis(retry)
    drop = add_command(
        commands, "drop", _drop, help="remove one dead letter", details=_DROP_MORE, epilog=_DROP
    )
    drop.add_argument("id", metavar="ID", help="its id, from `hitl dead list`")
    drop.add_argument("--reason", metavar="TEXT", type=text_argument, help="why, for the record")
    drop.add_argument("--yes", action="store_true", help="don't ask for confirmation")
    add_redis(drop)


def _list(args: argparse.Namespace) -> int:
    async def letters(reviews: Reviews) -> tuple[list[DeadLetter], float]:
        return await reviews.store.dead_letters(_LIMIT + 1), await reviews.store.now()

    found, now = with_reviews(args, letters)
    if args.json:
        say_json([_to_json(letter) for letter in found[:_LIMIT]])
    else:
        say_table(_COLUMNS, [_row(letter, now) for letter in found[:_LIMIT]])
    if not found:
        note("There are no dead letters: every card could be shown, or is still tried.")
    if len(found) > _LIMIT:
        note(f"There are more than these {_LIMIT}.")
    return 0


def _retry(args: argparse.Namespace) -> int:
    async def retry(reviews: Reviews) -> list[DeadLetter]:
        if args.all:
            return await retry_all(reviews)
        one = await reviews.store.dead_letter(args.id)
        return await retry_letters(reviews, [one] if one else [])

    retried = with_reviews(args, retry)
    for letter in retried:
        say(f"retried {letter.id}")
    if args.all and not retried:
        note("There are no dead letters.")
    return 0 if retried or args.all else _complain_unknown(args.id)


async def retry_all(reviews: Reviews) -> list[DeadLetter]:
    """Retry all letters, each card once: one that a bot adds again meanwhile stays. Their times say nothing
    about that, because Redis's clock may have been set back since.
    """
    retried: list[DeadLetter] = []
    tried = set[str]()
    while letters := [
        one for one in await reviews.store.dead_letters(_LIMIT) if one.member not in tried
    ]:
        tried |= {one.member for one in letters}
        retried += await retry_letters(reviews, letters)
    return retried


async def retry_letters(reviews: Reviews, letters: Iterable[DeadLetter]) -> list[DeadLetter]:
    """Retry the letters. Returns those that were retried. The audit entry is written after the retry, because
    a bot may have tried the job meanwhile. A retry without an entry does no harm: bots retry by themselves.
    """
    retried: list[DeadLetter] = []
    for letter in letters:
        if await reviews.store.requeue_dead_letter(letter):
            await _record(reviews, letter, "retried")
            retried.append(letter)
    return retried


def _drop(args: argparse.Namespace) -> int:
    if problem := terminal_problem(args):
        return complain(problem)
    letter = with_reviews(args, lambda reviews: reviews.store.dead_letter(args.id))
    if letter is None:
        return _complain_unknown(args.id)
    about = f"{_card_text(letter)} of the review {letter.review_id}: {letter.why}"
    if not confirm_change(
        args, lambda: say(about, to=sys.stderr), "Drop it?", "Nothing was dropped."
    ):
        return 1

    async def drop(reviews: Reviews) -> bool:
        await _record(reviews, letter, "dropped", args.reason)  # first: no drop without an entry
        return await reviews.store.drop_dead_letter(letter)

    if not with_reviews(args, drop):
        return _complain_unknown(args.id)
    say(f"dropped {letter.id}")
    return 0


async def _record(
    reviews: Reviews, letter: DeadLetter, kind: EventKind, why: str | None = None
) -> None:
    """Add it to the audit."""
    if is_review_id(letter.review_id):
        event = Event(
            kind=kind, review_id=letter.review_id, at=0.0, by=operator(), what=_card_text(letter),
            why=why, op=f"cli:{uuid4().hex}",
        )  # fmt: skip
        await reviews.store.record_event(letter.review_id, event)


def _complain_unknown(id: str) -> int:
    note(f"There is no dead letter {id}, or it was tried again meanwhile. See: hitl dead list")
    return 1


def _row(letter: DeadLetter, now: float) -> list[Cell]:
    return [
        Cell(letter.id),
        Cell(phrases.age(now - letter.at), phrases.timestamp(letter.at)),
        Cell(short_id(letter.review_id), letter.review_id),
        Cell(_card_text(letter)),
        Cell(letter.why),
    ]


def _to_json(letter: DeadLetter) -> dict[str, Any]:
    job, place = _split_member(letter.member)
    return {
        "id": letter.id,
        "at": letter.at,
        "review_id": letter.review_id,
        "job": job,
        "place": place,
        "why": letter.why,
    }


def _card_text(letter: DeadLetter) -> str:
    """The card's place; with the job's kind, unless the job only shows the card."""
    job, place = _split_member(letter.member)
    return place if job == "card" else f"{place} ({job})"


def _split_member(member: str) -> tuple[str, str]:
    """The kind and the place of a job."""
    kind, _, rest = member.partition(" ")
    return kind, rest.partition(" ")[2]
