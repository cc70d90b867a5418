"""`hitl audit verify`: checks that no entry of the audit was changed."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from hitl_core.audit import Anchor, BrokenChain, Verifier, parse_position
from hitl_core.cli.command import add_command
from hitl_core.cli.session import add_redis, with_reviews
from hitl_core.cli.terminal import RED, Paint, complain, note, say
from hitl_core.errors import AuditUnreadable, SettingsError, StoreUnavailable

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_MORE = """\
FILE is an export of `hitl audit export`; - reads standard input. Without FILE
the audit in Redis is verified. The entries of a review are chained by hash, and
anchors over all entries are chained as well. So the command finds the first
entry that was changed, deleted or moved, and a missing end.\
"""
_EPILOG = """\
examples:
  $ hitl audit verify audit.jsonl
  ok: entries 1,204, reviews 310, anchors 31, from the beginning
  The last anchor of each partition, for --anchor:
  0:1763766000123-0:5d41402abc4b2a76...
  $ hitl audit verify audit.jsonl --anchor 0:1763766000123-0:5d41402abc4b2a76...
  $ hitl audit verify audit-2026-11-22.jsonl --anchor audit-2026-11-21.jsonl
  line 17: review 0-93b4...: it is entry 5, and entries after 3 are missing.

A person who can write the file can also rewrite all of it, or cut it off after
an anchor: only an anchor that you kept elsewhere shows that. Pass it with
--anchor, as `export` printed it, or as an earlier file, whose last anchor of
each partition is used: the file must contain this anchor, or start after it.
The audit in Redis must contain the last exported anchor.

Exits with 0; 1 if the audit is broken or FILE is empty, 2 if the command or a
setting is wrong, 3 if Redis can't be reached: a page that it doesn't answer in
time is read again, three times.
"""
_ANCHOR = re.compile(r"(\d+:\d+-\d+):([0-9a-f]{64})")


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "verify",
        run,
        help="check that the audit was not changed",
        details=_MORE,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="the export; - reads standard input"
    )
    parser.add_argument(
        "--anchor",
        metavar="FILE|ID:ROOT",
        action="append",
        default=[],
        help="an anchor that was kept elsewhere; can be repeated",
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
    except (BrokenChain, AuditUnreadable) as broken:
        say(Paint(str(broken), RED))
        return 1
    return _say_result(verifier, args.file)


def _verify_file(name: str, verifier: Verifier) -> Verifier:
    """Raises OSError, BrokenChain."""
    with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
        for line in file:
            verifier.add_line(line)
    verifier.finish()
    return verifier


async def _verify_stored(reviews: Reviews, known: list[tuple[str, str]]) -> Verifier:
    """Verify the audit in Redis; its last entries may have no anchor yet. Raises BrokenChain.

    Meanwhile, bots add anchors and trim entries. A new anchor does no harm. If entries were trimmed,
    everything is read again.
    """
    while True:
        first_entries, verifier = await _first_entries(reviews), Verifier(known)
        try:
            await _feed_verifier(reviews, verifier)
            return verifier
        except BrokenChain:
            if await _first_entries(reviews) == first_entries:
                raise
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"{error} The first {verifier.entries:,} entries are ok, and the others were not read. Run"
                " the command again."
            ) from error


async def _first_entries(reviews: Reviews) -> list[str]:
    """The id of the first entry of each partition."""
    pages = [
        await reviews.store.ledger.entries(partition, "", 1)
        for partition in range(reviews.store.partitions)
    ]
    return [page[0].id if page else "" for page in pages]


async def _feed_verifier(reviews: Reviews, verifier: Verifier) -> None:
    from hitl_core.audit import entries, entry_line, export_lines

    ledger = reviews.store.ledger
    for partition in range(reviews.store.partitions):
        if exported := await ledger.last_export(partition):
            verifier.expect_anchor(exported)
        async for line, _ in export_lines(ledger, partition):
            verifier.add_line(line)
        # Continue after the last anchor that was read; there may be a newer one by now.
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
        note("The audit has no entries." if name is None else "The file has no entries.")
        return 0 if name is None else 1
    start = "from the beginning" if verifier.is_complete else "from after an anchor"
    say(
        f"ok: entries {verifier.entries:,}, reviews {verifier.subjects:,},"
        f" anchors {verifier.anchors:,}, {start}"
    )
    if verifier.last_anchors:
        note("The last anchor of each partition, for --anchor:")
    for anchor in verifier.last_anchors:
        note(f"{anchor.last}:{anchor.root}")
    return 0


def _read_anchors(given: str) -> list[tuple[str, str]]:
    """The typed anchor, or the last one of each partition in a file. Raises OSError, SettingsError."""
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
            f"{given} is not an anchor, and has none in it: --anchor takes FILE or ID:ROOT."
        )
    return [(anchor.last, anchor.root) for anchor in anchors.values()]
