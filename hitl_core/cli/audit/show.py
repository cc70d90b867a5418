"""`hitl audit show REVIEW`: the audit entries of one review."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from hitl_core.audit import BrokenChain, Verifier, entry_line, follows_line, read_entry
from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.session import add_id, add_redis, find_review, is_full_id, with_reviews
from hitl_core.cli.terminal import BOLD, DIM, RED, Paint, note, say, say_field, say_json
from hitl_core.errors import ReviewNotFound, ReviewUnreadable
from hitl_core.model import Event

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_EPILOG = """\
examples:
  $ hitl audit show 0-93b4c7d2
  1  2026-11-21T17:33:10Z  submitted
    args_hash  9f86d081884c
    policy     2c26b46b68ff
    rule       send_email
  2  2026-11-21T17:33:11Z  delivered slack:C0OPS/1763746391.000100
    place      slack:#ops
  3  2026-11-21T17:35:42Z  decided approve
    by         “Ada” (slack T0ACME/U0ADA)
    action     1
    args_hash  9f86d081884c
    op         click:1763746542.81
  $ hitl audit show 0-93b4c7d2 --json | jq '.[].by.id'

Times are in UTC. Only the first characters of hashes are shown; --json has the
whole hashes, also of every entry. An `op` is the id of a click or of a
command.

Exits with 0; 1 if there is no such review, or several, or if its entries were
changed, 2 if the command or a setting is wrong, 3 if Redis can't be reached.
"""
#: After a failover, the new Redis's clock may differ by at most this, in milliseconds.
_CLOCK_TOLERANCE = 3_600_000
_SHORT = 12
#: The keys of an entry beside its event.
_LINKS = frozenset({"id", "n", "prev", "hash"})


class _History(NamedTuple):
    """The lines of one review, and the first problem in them."""

    lines: list[str]
    problem: str | None


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "show", run, help="show what happened to one review, and by whom", epilog=_EPILOG
    )
    add_id(parser)
    parser.add_argument("--json", action="store_true", help="one JSON array, for programs")
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    history = with_reviews(args, lambda reviews: _load_history(reviews, args.id))
    if args.json:
        say_json([read_entry(line) or line for line in history.lines])
    else:
        for line in history.lines:
            _say_line(line)
    if history.problem:
        note(history.problem)
    return 1 if history.problem else 0


async def _load_history(reviews: Reviews, given: str) -> _History:
    """Raises Refused, ReviewNotFound, ReviewUnreadable."""
    from hitl_core.audit import entries, find_start
    from hitl_core.store import parse_partition

    chain, after = "", ""
    try:
        snapshot = await find_review(reviews, given)
        review_id, chain = snapshot.review.id, snapshot.chain
        start = max(0, int(snapshot.review.created_at * 1000) - _CLOCK_TOLERANCE)
        after = f"{parse_partition(review_id)}:{start}-0"
    except (ReviewNotFound, ReviewUnreadable):
        # The audit is kept for longer, and has its own damage.
        if not is_full_id(given):
            raise
        review_id = given.strip().lower()
    partition, ledger, verifier = parse_partition(review_id), reviews.store.ledger, Verifier()
    if partition is None or partition >= reviews.store.partitions:
        raise ReviewNotFound(f"The audit has nothing about {review_id}.")
    if trimmed := await find_start(ledger, partition):
        verifier.add_line(follows_line(trimmed))
    lines = list[str]()
    async for entry in entries(ledger, partition, after):
        if review_id in entry.line and _is_about(review_id, line := entry_line(entry)):
            lines.append(line)
    if not lines and (trimmed or not chain):
        raise ReviewNotFound(
            f"The audit has nothing about {review_id}, or it was exported and is no longer here."
        )
    return _History(lines, _find_problem(verifier, lines, chain))


def _find_problem(verifier: Verifier, lines: list[str], chain: str) -> str | None:
    """The first problem in these entries. `chain` is the head of the audit that is stored in the review."""
    head = ""
    for line in lines:
        fields = read_entry(line) or {}
        head = f"{fields.get('n')}:{fields.get('hash')}"
        try:
            verifier.add_line(line)
        except BrokenChain as broken:
            return f"Entry {fields.get('n', '?')} is broken: {broken.problem}."
    if chain not in ("", head):
        return f"The review has {chain.partition(':')[0]} entries, but the audit ends here."
    return None


def _is_about(review_id: str, line: str) -> bool:
    """Also if its id is in a line that can't be read: it may be the review's entry."""
    fields = read_entry(line)
    return fields is None or fields.get("review_id") == review_id


def _say_line(line: str) -> None:
    fields = read_entry(line) or {}
    number = str(fields.get("n", "?"))
    try:
        event = Event.model_validate({key: fields[key] for key in fields if key not in _LINKS})
        when = phrases.timestamp(event.at)
    except (ValueError, OverflowError, OSError):  # the last two: no date has this number
        say(Paint(f"{number}  ", DIM), Paint("an entry that this version can't read", RED))
        return
    what = "" if event.what is None else f" {event.what}"
    colour = RED if event.kind == "refused" else BOLD
    say(Paint(f"{number}  ", DIM), f"{when}  ", Paint(event.kind, colour), what)
    for label, value in _fields(event):
        say_field(label, value)


def _fields(event: Event) -> Iterator[tuple[str, str]]:
    if event.by is not None:
        yield "by", phrases.person_text(event.by)
    if event.action is not None:
        yield "action", event.action
    if event.why is not None:
        yield "why", event.why
    if event.place is not None:
        yield "place", phrases.place_text(event.place)
    if event.args_hash is not None:
        yield "args_hash", _hashes_text(event.before, event.args_hash)
    if event.policy is not None:
        yield "policy", event.policy[:_SHORT]
    if event.rule:
        rules = [rule.strip() or "the default" for rule in event.rule.split(",")]
        yield "rule", ", ".join(rules)
    if event.op is not None:
        yield "op", event.op


def _hashes_text(before: str | None, after: str) -> str:
    """The hashes before and after. For several actions, both are lists."""
    if before is None or before == after:
        return _short(after)
    return f"{_short(before)} → {_short(after)}"


def _short(hashes: str) -> str:
    return ", ".join(each[:_SHORT] for each in hashes.split(","))
