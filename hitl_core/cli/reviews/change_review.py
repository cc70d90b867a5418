"""The way of a command that changes a review: what it is about is shown, a person says yes, it is stored."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar
from uuid import uuid4

from hitl_core.cli import phrases
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.terminal import confirm, note, say
from hitl_core.errors import Refused, StoreUnavailable
from hitl_core.model import Call, Snapshot

T = TypeVar("T")

BUSY_MESSAGE = "Others are deciding at this very moment. Run the command again."
UNKNOWN_MESSAGE = "Whether it was stored is not known. Run the command again: it counts only once."


def confirm_change(
    args: argparse.Namespace, show: Callable[[], object], question: str, no_change_message: str
) -> bool:
    """Whether a person who saw it says yes; `--yes` has said it before. `unchanged`: what a no is told."""
    if args.yes:
        return True
    show()
    if not confirm(question):
        note(no_change_message)
        return False
    return True


def show_calls(snapshot: Snapshot, calls: Iterable[Call]) -> None:
    """Where the answer of the command itself doesn't go."""
    review = snapshot.review
    say(phrases.heading(review), to=sys.stderr)
    for call in calls:
        say_call(snapshot, call, rest=f"hitl reviews show {review.id} --args", to=sys.stderr)


async def store_change(
    change: Callable[[str], Awaitable[T]], unknown_message: str = UNKNOWN_MESSAGE
) -> T:
    """What `change`, given the operation's name, makes. Raises what it raises, in the command line's words;
    `maybe`: what to do where a reply was lost.
    """
    try:
        return await change(f"cli:{uuid4().hex}")
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error} {unknown_message}") from error
    except Refused as refused:
        if refused.code == "busy":
            raise Refused("busy", BUSY_MESSAGE) from refused
        raise
