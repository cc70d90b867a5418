"""A command's way to the reviews: which Redis, which review, and who is asking."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from hitl_core.cli.terminal import is_interactive
from hitl_core.errors import Refused, SettingsError, StoreUnavailable
from hitl_core.model import CLI, Reviewer, Snapshot
from hitl_core.model import review as model
from hitl_core.model.call import is_text

if TYPE_CHECKING:
    from hitl_core.review.service import Reviews
    from hitl_core.store import Store
    from hitl_core.store.contract import LiveReview

T = TypeVar("T")

DEFAULT_URL = "redis://localhost:6379/0"
#: A review's id, or at least four of its digits.
_PAGE = 1000

#: Without it nothing is decided here.
_SWITCH = "HITL_CLI_DECIDE"
_OFF_MESSAGE = (
    f"Deciding on the command line is off: it asks nobody whether you may. Set {_SWITCH}=1 where"
    " operators may decide."
)


def add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", help="the review's id; of one that is not done the beginning will do"
    )


def add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="don't ask; needs the whole id")


def check_deciding_enabled() -> None:
    """Raises SettingsError where deciding is off."""
    if os.environ.get(_SWITCH) != "1":
        raise SettingsError(_OFF_MESSAGE)


def text_argument(typed: str) -> str:
    """For what is stored: a shell hands over bytes, and not all are text."""
    if not is_text(typed):
        raise argparse.ArgumentTypeError("this is no UTF-8 text")
    return typed


def confirmation_problem(args: argparse.Namespace) -> str | None:
    """Why this command can't go on: it must ask, and nobody is there; or it asks nobody, and the beginning of
    an id may by then be that of another review.
    """
    if args.yes:
        return None if is_full_id(args.id) else "With --yes give the whole id, not its beginning."
    if is_interactive():
        return None
    return "There is no terminal to ask you on: add --yes to go ahead without the question."


def add_redis(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--redis",
        metavar="URL",
        help=f"the Redis of the agents and the bot; else HITL_REDIS_URL, else {DEFAULT_URL}",
    )


def with_reviews(args: argparse.Namespace, work: Callable[[Reviews], Awaitable[T]]) -> T:
    """Do this with the reviews of the Redis that was named.

    Raises what the work raises; SettingsError for an address or a server that won't do; StoreUnavailable.
    """

    async def run_work() -> T:
        async with _open_reviews(*_redis_address(args)) as reviews:
            return await work(reviews)

    return asyncio.run(run_work())


def _redis_address(args: argparse.Namespace) -> tuple[str, str]:
    """And a sentence on where it is from, for when it won't do."""
    if args.redis:
        return args.redis, "The address is from --redis."
    if url := os.environ.get("HITL_REDIS_URL", "").strip():
        return url, "The address is from HITL_REDIS_URL."
    return DEFAULT_URL, "No other address was given, with --redis or HITL_REDIS_URL."


@asynccontextmanager
async def _open_reviews(url: str, source: str) -> AsyncGenerator[Reviews, None]:
    from hitl_core.review.service import Reviews
    from hitl_core.store import RedisStore

    try:
        store = await RedisStore.open(
            url, set_partitions=False
        )  # a look into an empty Redis leaves it empty
    except (SettingsError, StoreUnavailable) as error:
        raise type(error)(f"{error} {source}") from error
    try:
        yield Reviews(store)
    finally:
        await store.close()


async def live_ids(store: Store) -> AsyncIterator[str]:
    """Of all reviews that are not done, the oldest first."""
    after: LiveReview | None = None
    while page := await store.live_reviews(_PAGE, after):
        for after in page:
            yield after.id


async def find_review(reviews: Reviews, given: str) -> Snapshot:
    """The review of this id; a few digits will do where they name one live review.

    Raises Refused where they name none or several, ReviewNotFound.
    """
    given = given.strip().lower()
    if model.is_review_id(given):
        return await reviews.load(given)
    if not model.is_id_prefix(given):
        raise Refused(
            "no_id",
            f"{given!r} is not a review's id. An id looks like 0-93b4c7d2; give at least four characters"
            " after the dash.",
        )
    matches = {id async for id in live_ids(reviews.store) if id.startswith(given)}
    if len(matches) > 1:
        raise Refused(
            "ambiguous", f"{len(matches)} live reviews begin with {given}: give more of it."
        )
    if not matches:
        raise Refused(
            "gone", f"No live review begins with {given}. One that is done needs its whole id."
        )
    return await reviews.load(matches.pop())


def is_full_id(given: str) -> bool:
    return model.is_review_id(given.strip().lower())


def operator() -> Reviewer:
    """Who decides on the command line: an identity of its own in the record.

    The name is the system's, for the user id of this process. The environment's (LOGNAME) could say anything.
    """
    try:
        import pwd

        login = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # in a container users need no names
        login = f"uid-{os.getuid()}"
    return Reviewer(
        channel=CLI, team=socket.gethostname(), id=login, name=f"{login} (command line)"
    )
