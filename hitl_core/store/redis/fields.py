"""Writes and reads the fields of a stored review, and the entries of its audit."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, cast

from hitl_core.errors import ReviewTooNew, ReviewUnreadable
from hitl_core.model import SCHEMA_VERSION, Arguments, MessageRef, Place, Review, Snapshot
from hitl_core.store.redis.packing import pack, unpack

# The names of the fields.
ARGS = "args:"
POST = "post:"
SHOWN = "shown:"
MARK = "mark:"
CHAIN = "chain"
ATTEMPT = "attempt"


def text_of(stored: bytes) -> str:
    """A name in an index or a queue. A damaged one becomes a text that names nothing, so that the others can
    still be read.
    """
    return stored.decode("utf-8", "replace")


def dump_data(review: Review) -> bytes:
    """The review as packed JSON, without its arguments (which have fields of their own) and without values
    equal to the model's defaults. So if a default changes, the schema version must change too; the version is
    always written.
    """
    data = review.model_dump_json(exclude_defaults=True)
    return pack(f'{{"schema_version":{review.schema_version},{data[1:]}'.encode())


def dump_args(args: Mapping[str, Arguments]) -> dict[str, bytes]:
    return {f"{ARGS}{key}": each.data for key, each in args.items()}


def dump_entry(line: str) -> bytes:
    return pack(line.encode())


def read_entry(stored: bytes) -> str:
    """The line of an entry. For unreadable data it is not a line of the chain, and `verify` reports that."""
    try:
        return unpack(stored).decode()
    except ValueError:
        return stored.decode("utf-8", "replace")


def read_review_id(entry: bytes | None) -> str:
    """The review id in an entry of the audit; "" if the entry is not about a review."""
    try:
        data: Any = json.loads(unpack(entry or b"{}"))
    except ValueError:
        return ""
    return str(cast(Any, data).get("review_id", "")) if isinstance(data, dict) else ""


def read_snapshot(review_id: str, head: bytes, stored: bytes) -> Snapshot | None:
    """The snapshot in the answer of fields.lua; None if there is no review. Raises ReviewUnreadable for data
    that is damaged, or that another version wrote.
    """
    seconds, micros, held, *sizes = head.split()
    if not sizes:
        return None
    data = b""
    try:
        fields = _split_fields(sizes, stored)
        of = _group_fields(fields)
        data = unpack(fields["data"])
        review = Review.model_validate_json(data)
        posts = {Place(k): MessageRef.model_validate_json(v) for k, v in of[POST].items()}
        shown_versions = {Place(k): int(v) for k, v in of[SHOWN].items()}
        chain = fields.get(CHAIN, b"").decode()
    except (KeyError, ValueError) as error:  # pydantic's ValidationError is a ValueError
        written = re.match(rb'{"schema_version":(\d+),', data)
        message = f"The stored review {review_id} can't be read by this version"
        if written and int(written[1]) > SCHEMA_VERSION:
            newer = f"{message}: a newer one wrote it. Update this program."
            raise ReviewTooNew(newer) from error
        raise ReviewUnreadable(f"{message}.") from error
    if review.id != review_id:
        raise ReviewUnreadable(f"The store has the review {review.id} under the id {review_id}.")
    args = {key: Arguments(value) for key, value in of[ARGS].items()}
    return Snapshot(
        review=review.model_copy(update={"args": args}),
        posts=posts,
        shown=shown_versions,
        now=int(seconds) + int(micros) / 1e6,
        chain=chain,
        marks=frozenset(of[MARK]),
        held=held != b"-",
        held_since=None if held == b"-" else float(held),
    )


def check_arguments(review: Review) -> None:
    """Raises ReviewUnreadable if the newest arguments of a call are not there."""
    revisions = {action.key: action.revision for action in review.actions}
    if any(f"{call.key}:{revisions.get(call.key, 1)}" not in review.args for call in review.calls):
        message = (
            f"The stored review {review.id} can't be read by this version: it lacks arguments."
        )
        raise ReviewUnreadable(message)


def _split_fields(sizes: Iterable[bytes], stored: bytes) -> dict[str, bytes]:
    """The fields of a hash by name."""
    parts, at = list[bytes](), 0
    for size in map(int, sizes):
        parts.append(stored[at : at + size])
        at += size
    return {name.decode(): value for name, value in zip(parts[::2], parts[1::2], strict=True)}


def _group_fields(fields: Mapping[str, bytes]) -> Mapping[str, dict[str, bytes]]:
    """The fields, grouped by the prefix of their names."""
    groups = defaultdict[str, dict[str, bytes]](dict)
    for name, value in fields.items():
        kind, colon, rest = name.partition(":")
        groups[kind + colon][rest] = value
    return groups
