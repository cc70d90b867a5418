"""The fields of a review's Redis hash: their names, and how a review is written and read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from hitl_core.errors import StoreError
from hitl_core.model import Arguments, MessageRef, Place, Review, Snapshot

ARGS = "args:"
POST = "post:"
SHOWN = "shown:"
MARK = "mark:"
CHAIN = "chain"
ATTEMPT = "attempt"


def dump_data(review: Review) -> bytes:
    """The review as JSON, without its arguments (they have fields of their own) and without values equal to
    the model's defaults. So a default may change only together with the schema version, which is always
    written.
    """
    data = review.model_dump_json(exclude_defaults=True)
    return f'{{"schema_version":{review.schema_version},{data[1:]}'.encode()


def dump_args(args: Mapping[str, Arguments]) -> dict[str, bytes]:
    return {f"{ARGS}{key}": each.data for key, each in args.items()}


def read_review_id(entry: bytes | None) -> str:
    """The review id in an entry of the audit; "" if the entry is not about a review."""
    try:
        data: Any = json.loads(entry or b"{}")
    except ValueError:
        return ""
    return str(cast(Any, data).get("review_id", "")) if isinstance(data, dict) else ""


def read_snapshot(review_id: str, fields: Mapping[str, bytes], now: float) -> Snapshot:
    """Raises StoreError for stored data that is damaged, or that another version wrote."""
    try:
        review = Review.model_validate_json(fields["data"])
        posts: dict[Place, MessageRef] = {
            Place(key.removeprefix(POST)): MessageRef.model_validate_json(value)
            for key, value in fields.items()
            if key.startswith(POST)
        }
        shown_versions = {
            Place(k.removeprefix(SHOWN)): int(v) for k, v in fields.items() if k.startswith(SHOWN)
        }
    except (KeyError, ValueError) as error:  # pydantic's ValidationError is a ValueError
        raise StoreError(f"The stored review {review_id} can't be read by this version.") from error
    if review.id != review_id:
        raise StoreError(f"The store has the review {review.id} under the id {review_id}.")
    args = {k.removeprefix(ARGS): Arguments(v) for k, v in fields.items() if k.startswith(ARGS)}
    return Snapshot(
        review=review.model_copy(update={"args": args}),
        posts=posts,
        shown=shown_versions,
        now=now,
        chain=fields.get(CHAIN, b"").decode(),
        marks=frozenset(key.removeprefix(MARK) for key in fields if key.startswith(MARK)),
    )
