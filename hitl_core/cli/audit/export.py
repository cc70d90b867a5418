"""`hitl audit export`: writes the audit as lines, to keep it elsewhere."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from hitl_core.audit import Anchor, Ledger, parse_position
from hitl_core.cli.command import add_command
from hitl_core.cli.session import add_redis, with_reviews
from hitl_core.cli.terminal import complain, note
from hitl_core.errors import SettingsError, StoreError, StoreUnavailable
from hitl_core.model import Review
from hitl_core.review import visible_args

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_MORE = """\
One JSON object on each line: every transition, refused attempt, escalation and
delivery, with who, what, when (seconds since the epoch), the hashes of the
arguments and of the policy, and the operation's id. After each range of entries
comes its anchor, {"count", "from", "prev", "root", "to"}. The arguments are not
exported.\
"""
_EPILOG = """\
examples:
  $ hitl audit export --out audit-2026-11-21.jsonl
  Entries 1,204, anchors 31. Keep the last anchor in another place:
  0:1763766000123-0:5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d91...
  $ hitl audit export --new --out audit-2026-11-22.jsonl
  $ hitl audit export --calls > calls.jsonl
  $ hitl policy test new.yaml calls.jsonl --against policy.yaml

Exported entries are deleted from Redis when they are older than the retention
(30 days); other entries stay. With --calls: the tool calls of all stored
reviews, as their agents made them, with all arguments; this marks nothing as
exported.

Exits with 0, also if there is nothing; 2 if the command or a setting is wrong,
3 if Redis can't be reached or a stored review can't be read.
"""


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "export", run, help="write the audit as JSON lines", details=_MORE, epilog=_EPILOG
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--new", action="store_true", help="only entries that were not exported before"
    )
    which.add_argument(
        "--after",
        metavar="ID",
        type=_entry_id,
        action="append",
        default=[],
        help="only entries after this one, in its partition; can be repeated",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write to this new file (default, and -: standard output)"
    )
    parser.add_argument("--calls", action="store_true", help="write the tool calls instead")
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    if args.calls and args.new:
        return complain("--new can't be used with --calls, which writes all stored calls.")
    try:
        with _open_output(args.out) as out:
            return with_reviews(
                args,
                lambda reviews: _export(reviews, args, out),
            )
    except FileExistsError:
        return complain(f"{args.out} exists already and is not overwritten: choose another name.")
    except BrokenPipeError:
        raise
    except OSError as error:
        if args.out in (None, "-"):
            raise  # `main` says it
        return complain(f"{args.out} can't be written: {error.strerror or error}.")


async def _export(reviews: Reviews, args: argparse.Namespace, out: TextIO) -> int:
    """Raises SettingsError for an id of a partition that this Redis doesn't have: all would be exported."""
    for id in args.after:
        if parse_position(id)[0] >= (count := reviews.store.partitions):
            there = "only the partition 0" if count == 1 else f"the partitions 0 to {count - 1}"
            raise SettingsError(
                f"--after {id}: this Redis has {there}. Take the id from an export of the same Redis."
            )
    export = _export_calls if args.calls else _export_entries
    return await export(reviews, args, out)


async def _export_entries(reviews: Reviews, args: argparse.Namespace, out: TextIO) -> int:
    """Write the entries. They are marked as exported only after all lines were written."""
    from hitl_core.audit import export_lines, seal

    ledger, last, counts = reviews.store.ledger, dict[int, Anchor](), [0, 0]
    await seal(reviews.store)
    for partition in range(reviews.store.partitions):
        async for line, anchor in export_lines(
            ledger, partition, await _start_entry(reviews, args, partition)
        ):
            print(_to_ascii(line), file=out)
            counts[anchor is not None] += 1
            if anchor is not None:
                last[partition] = anchor
    _finish_output(out)
    await _mark_exported(ledger, last)
    note(
        f"Entries {counts[0]:,}, anchors {counts[1]:,}. Keep the last anchor in another place:"
        if last
        else "There is nothing to export."
    )
    for anchor in last.values():
        note(f"{anchor.last}:{anchor.root}")
    return 0


async def _mark_exported(ledger: Ledger, last: Mapping[int, Anchor]) -> None:
    """Raises StoreUnavailable, StoreError."""
    try:
        for partition, anchor in last.items():
            await ledger.mark_exported(partition, anchor)
    except (StoreUnavailable, StoreError) as error:
        raise type(error)(
            f"{error} All entries were written, but perhaps not marked as exported: then the next"
            " export with --new has some of them again."
        ) from error


async def _export_calls(reviews: Reviews, args: argparse.Namespace, out: TextIO) -> int:
    problems = list[str]()
    async for review_id in _review_ids(reviews, args, problems):
        try:
            snapshot = await reviews.store.load(review_id)
        except StoreError as error:  # such as a newer version's; the others are exported
            problems.append(str(error))
            continue
        if snapshot is not None:
            for line in _call_lines(snapshot.review):
                print(line, file=out)
    _finish_output(out)
    for problem in problems:
        complain(problem)
    return 3 if problems else 0


def _call_lines(review: Review) -> Iterator[str]:
    """The calls of a review as `hitl policy test` reads them: what the model asked for, before any edit."""
    for call in review.calls:
        fields = {"id": call.tool_call_id, "name": call.name, "thread_id": review.thread_id}
        yield _to_ascii(json.dumps({**fields, "args": visible_args(review, call, 1)}))


async def _review_ids(
    reviews: Reviews, args: argparse.Namespace, problems: list[str]
) -> AsyncIterator[str]:
    """The ids of the reviews whose submission is among these entries, each once. An entry that can't be read
    is added to `problems`: its review may be missing.
    """
    from hitl_core.audit import entries, read_entry

    seen = set[str]()
    for partition in range(reviews.store.partitions):
        after = await _start_entry(reviews, args, partition)
        async for entry in entries(reviews.store.ledger, partition, after):
            fields = read_entry(entry.line)
            if fields is None:
                problems.append(
                    f"The entry {entry.id} of the audit can't be read, so the calls of a review may be"
                    " missing. Look with: hitl audit verify"
                )
            elif fields.get("kind") == "submitted":
                review_id = str(fields.get("review_id"))
                if review_id not in seen:
                    seen.add(review_id)
                    yield review_id


async def _start_entry(reviews: Reviews, args: argparse.Namespace, partition: int) -> str:
    if args.new:
        exported = await reviews.store.ledger.last_export(partition)
        return exported.last if exported else ""
    mine = (id for id in args.after if parse_position(id)[0] == partition)
    return max(mine, key=parse_position, default="")


@contextmanager
def _open_output(name: str | None) -> Generator[TextIO, None, None]:
    """The file or standard output. Raises OSError. An unfinished file is deleted. A finished file stays, even
    if something fails later: its entries may be marked as exported, and then no other export has them.
    """
    if name in (None, "-"):
        yield sys.stdout
        return
    with open(name, "x", encoding="ascii") as out:
        try:
            yield out
        except BaseException:
            if not out.closed:
                os.unlink(name)
            raise


def _finish_output(out: TextIO) -> None:
    """All lines were written. Raises OSError."""
    out.flush()
    if out is not sys.stdout:
        os.fsync(out.fileno())
        out.close()


def _to_ascii(line: str) -> str:
    """The same JSON without control codes for a terminal."""
    if not line.isascii():
        try:
            line = json.dumps(json.loads(line))
        except (ValueError, RecursionError):  # we did not write this line: `verify` reports it
            line = json.dumps(line)
    return line.replace("\x7f", "\\u007f").replace("\n", " ")


def _entry_id(text: str) -> str:
    try:
        parse_position(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the id of an audit entry, such as 0:1763766000123-0"
        ) from error
    return text
