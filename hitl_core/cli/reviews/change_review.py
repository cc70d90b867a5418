"""The steps of a command that changes a review: show it, store the change."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import uuid4

from hitl_core.cli import phrases
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.session import find_review
from hitl_core.cli.terminal import say
from hitl_core.errors import Refused, ReviewNotFound, StoreUnavailable
from hitl_core.model import Call, Snapshot

if TYPE_CHECKING:
    from hitl_core.review import ChangeResult, Command, Reviews

BUSY_MESSAGE = "Other people are deciding at this moment. Run the command again."
UNKNOWN_MESSAGE = (
    "It is not known whether this was stored. Run the command again: it counts only once."
)


def show_calls(snapshot: Snapshot, calls: Iterable[Call]) -> None:
    """Print the calls on standard error, because standard output has only the command's result. Nothing is
    cut: a person must be able to read everything that they confirm.
    """
    review = snapshot.review
    say(phrases.heading(review), to=sys.stderr)
    for call in calls:
        say_call(snapshot, call, rest=None, to=sys.stderr)


async def find_or_drop(reviews: Reviews, given: str) -> Snapshot | None:
    """Like `find_review`. A review that is not stored any more is removed from the lists of what waits, and
    this is said: then None. Otherwise its problems would have no end.
    """
    try:
        return await find_review(reviews, given)
    except ReviewNotFound:
        if not await drop_missing(reviews, given.strip().lower()):
            raise
        return None


async def drop_missing(reviews: Reviews, review_id: str) -> bool:
    """Whether it was removed from the lists of what waits."""
    removed = await reviews.store.drop_missing(review_id)
    if removed:
        say(f"removed {review_id} from what waits: nothing of it is stored any more")
    return removed


def new_op() -> str:
    """The id of one command."""
    return f"cli:{uuid4().hex}"


async def store_change(
    reviews: Reviews, command: Command, unknown_message: str = UNKNOWN_MESSAGE
) -> ChangeResult:
    """Apply the command, and record a refusal in the audit. Raises what `Reviews.apply` raises, with texts
    for the command line. `unknown_message`: what to do if the reply was lost.
    """
    try:
        return await reviews.apply(command)
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error} {unknown_message}") from error
    except Refused as refused:
        if command.who is not None:
            action = ",".join(command.keys) or None
            await reviews.record_refusal(
                command.review_id, refused.code, command.who, command.op, action=action
            )
        if refused.code == "busy":
            raise Refused("busy", BUSY_MESSAGE) from refused
        raise
