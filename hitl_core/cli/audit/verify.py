"""`hitl audit verify`: whether what happened is still as it was written."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from hitl_core.audit.anchor import Anchor, parse_position
from hitl_core.audit.verify import BrokenChain, Verifier
from hitl_core.cli.command import add_command
from hitl_core.cli.session import add_redis, with_reviews
from hitl_core.cli.terminal import RED, Paint, complain, note, say
from hitl_core.errors import SettingsError

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review.service import Reviews

_MORE = """\
FILE is what `hitl audit export` wrote, - takes it from the pipe; without one
what Redis keeps is verified. Entries are chained by hash within their review,
and anchors over all of them follow one another: a change, a deletion, another
order, and a missing end are found, and the first of them is named.\
"""
_EPILOG = """\
examples:
  $ hitl audit verify audit.jsonl
  whole: entries 1,204, reviews 310, anchors 31, from the beginning
  $ hitl audit verify audit.jsonl --anchor 0:1763766000123-0:5d41402abc4b2a76...
  $ hitl audit verify audit-2026-11-22.jsonl --anchor audit-2026-11-21.jsonl
  line 17: review 0-93b4...: it is entry 5, and entries after 3 are missing.

Who can write the file can also write it anew, or cut it off behind an anchor:
only an anchor that was kept elsewhere shows that. Give it with --anchor, as
`export` said it or as an earlier file, of which the last of each partition
counts: the file must hold it, or begin behind it. Redis itself is held to the
last anchor that was exported.

Exits with 0; 1 where something is broken or there is nothing in FILE, 2 where
the command or a setting is wrong, 3 where Redis can't be reached.
"""
_ANCHOR = re.compile(r"(\d+:\d+-\d+):([0-9a-f]{64})")


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "verify", run, help="find what was tampered with", details=_MORE, epilog=_EPILOG
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="the export; or -")
    parser.add_argument(
        "--anchor",
        metavar="FILE|ID:ROOT",
        action="append",
        default=[],
        help="an anchor that was kept elsewhere; may be said for several",
    )
    add_redis(parser)


def run(args: argparse.Namespace) -> int:
    try:
        anchors = [anchor for given in args.anchor for anchor in _read_anchors(given)]
        if args.file is None:
            verifier = with_reviews(args, lambda reviews: _verify_stored(reviews, anchors))
        else:
            verifier = _verify_file(args.file, Verifier(anchors))
    except OSError as error:
        return complain(f"{error.filename} can't be read: {error.strerror or error}.")
    except BrokenChain as broken:
        say(Paint(str(broken), RED))
        return 1
    return _say_result(verifier, args.file)


def _verify_file(name: str, verifier: Verifier) -> Verifier:
    """Raises OSError, Broken."""
    with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
        for line in file:
            verifier.add_line(line)
    verifier.finish()
    return verifier


async def _verify_stored(reviews: Reviews, known: list[tuple[str, str]]) -> Verifier:
    """What is in Redis; the end of it has no anchor yet. Raises Broken.

    Bots seal and trim meanwhile. A new anchor only follows what was read; what was trimmed away is missing
    here, so that is read again.
    """
    while True:
        first_entries, verifier = await _first_entries(reviews), Verifier(known)
        try:
            await _feed_verifier(reviews, verifier)
            return verifier
        except BrokenChain:
            if await _first_entries(reviews) == first_entries:
                raise


async def _first_entries(reviews: Reviews) -> list[str]:
    """The first entry of each partition that is left."""
    pages = [
        await reviews.store.ledger.entries(partition, "", 1)
        for partition in range(reviews.store.partitions)
    ]
    return [page[0].id if page else "" for page in pages]


async def _feed_verifier(reviews: Reviews, verifier: Verifier) -> None:
    from hitl_core.audit.export import entries, entry_line, export_lines

    ledger = reviews.store.ledger
    for partition in range(reviews.store.partitions):
        if exported := await ledger.last_export(partition):
            verifier.expect_anchor(exported)
        async for line, _ in export_lines(ledger, partition):
            verifier.add_line(line)
        # Behind the last anchor that was read, and not the last that there is by now.
        ends = (
            anchor.last
            for anchor in verifier.last_anchors
            if parse_position(anchor.last)[0] == partition
        )
        async for entry in entries(ledger, partition, next(ends, "")):
            verifier.add_line(entry_line(entry))
    verifier.finish(expect_anchors=False)


def _say_result(verifier: Verifier, name: str | None) -> int:
    if not verifier.entries:
        note("There is no entry." if name is None else "There is no entry in it.")
        return 0 if name is None else 1
    start = "from the beginning" if verifier.is_complete else "behind an anchor"
    say(
        f"whole: entries {verifier.entries:,}, reviews {verifier.subjects:,},"
        f" anchors {verifier.anchors:,}, {start}"
    )
    for anchor in verifier.last_anchors:
        note(f"{anchor.last}:{anchor.root}")
    return 0


def _read_anchors(given: str) -> list[tuple[str, str]]:
    """The anchor that was typed, or the last of each partition in a file. Raises OSError, SettingsError."""
    if match := _ANCHOR.fullmatch(given):
        return [(match[1], match[2])]
    anchors: dict[int, Anchor] = {}
    with open(given, "rb") as file:
        for line in file:
            with suppress(ValueError):
                anchor = Anchor.model_validate_json(line)
                anchors[parse_position(anchor.last)[0]] = anchor
    if not anchors:
        raise SettingsError(
            f"{given} holds no anchor, and is none: --anchor takes FILE or ID:ROOT."
        )
    return [(anchor.last, anchor.root) for anchor in anchors.values()]
