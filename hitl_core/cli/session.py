"""What commands need to work on reviews: the Redis connection, the review by its id, and the operator."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from hitl_core.cli.terminal import confirm, is_interactive, note
from hitl_core.defaults import DEFAULT_REDIS_URL
from hitl_core.errors import Refused, SettingsError, StoreUnavailable
from hitl_core.model import CLI, Reviewer, Snapshot, is_id_prefix, is_review_id, is_text

if TYPE_CHECKING:
    from hitl_core.review import Reviews
    from hitl_core.store import LiveReview, Store

T = TypeVar("T")

#: How many ids are read at once.
_PAGE = 1000

#: The commands `decide` and `resolve` only work if this is 1.
_SWITCH = "HITL_CLI_DECIDE"
_OFF_MESSAGE = (
    "Deciding on the command line is off, because it doesn't check whether you are a reviewer. Set"
    f" {_SWITCH}=1 on machines where operators may decide."
)


def add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", help="the review's id, or its beginning as a card shows it"
    )


def add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="don't ask for confirmation; needs the whole id"
    )


def check_deciding_enabled() -> None:
    """Raises SettingsError if deciding is off."""
    if os.environ.get(_SWITCH) != "1":
        raise SettingsError(_OFF_MESSAGE)


def text_argument(typed: str) -> str:
    """A text argument that is stored. It must be UTF-8; a shell can pass any bytes."""
    if not is_text(typed):
        raise argparse.ArgumentTypeError("this is not UTF-8 text")
    return typed


def terminal_problem(args: argparse.Namespace) -> str | None:
    """Why the command can't ask for confirmation; None if it can, or if `--yes` makes that unnecessary."""
    if args.yes or is_interactive():
        return None
    return "There is no terminal for the confirmation: add --yes to continue without it."


def confirmation_problem(args: argparse.Namespace) -> str | None:
    """The same for a command about one review. With `--yes` it needs the whole id: the beginning could be
    another review's when the script runs.
    """
    if args.yes:
        needed = "--yes needs the whole id: `hitl reviews show` prints it."
        return None if is_full_id(args.id) else needed
    if is_interactive():
        return None
    return "There is no terminal for the confirmation: use the whole id, and add --yes."


def confirm_change(
    args: argparse.Namespace, show: Callable[[], object], question: str, no_change_message: str
) -> bool:
    """Show the change and ask for confirmation; with `--yes` don't ask. After a no, print
    `no_change_message`.
    """
    if args.yes:
        return True
    show()
    if not confirm(question):
        note(no_change_message)
        return False
    return True


def add_redis(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--redis",
        metavar="URL",
        help=f"the Redis of the agents and the bot (default: HITL_REDIS_URL, then {DEFAULT_REDIS_URL})",
    )


def with_reviews(args: argparse.Namespace, work: Callable[[Reviews], Awaitable[T]]) -> T:
    """Run `work` with the reviews in the Redis of this command.

    Raises what the work raises; SettingsError for a bad address or an unsuitable server; StoreUnavailable.
    """

    async def run_work() -> T:
        async with _open_reviews(*_redis_address(args)) as reviews:
            return await work(reviews)

    return asyncio.run(run_work())


def _redis_address(args: argparse.Namespace) -> tuple[str, str]:
    """The address, and a sentence that says where it comes from, for an error."""
    if args.redis:
        return args.redis, "The address is from --redis."
    if url := os.environ.get("HITL_REDIS_URL", "").strip():
        return url, "The address is from HITL_REDIS_URL."
    return (
        DEFAULT_REDIS_URL,
        "This is the default address: set another one with --redis or HITL_REDIS_URL.",
    )


@asynccontextmanager
async def _open_reviews(url: str, source: str) -> AsyncGenerator[Reviews, None]:
    from hitl_core.review import Reviews
    from hitl_core.store import RedisStore

    try:
        store = await RedisStore.open(url, set_partitions=False)  # leaves an empty Redis empty
    except (SettingsError, StoreUnavailable) as error:
        raise type(error)(f"{error} {source}") from error
    try:
        yield Reviews(store)
    finally:
        await store.close()


async def live_ids(store: Store) -> AsyncIterator[str]:
    """The ids of all reviews that are not done, the oldest first."""
    after: LiveReview | None = None
    while page := await store.live_reviews(_PAGE, after):
        for after in page:
            yield after.id


async def find_review(reviews: Reviews, given: str) -> Snapshot:
    """The review with this id, or the only review whose id begins with it. Live reviews are searched before
    done ones.

    Raises Refused if several ids begin with it or none does, ReviewNotFound.
    """
    given = given.strip().lower()
    if is_review_id(given):
        return await reviews.load(given)
    if not is_id_prefix(given):
        raise Refused(
            "no_id",
            f"{given!r} is not a review's id. An id looks like 0-93b4c7d2: type at least four characters"
            " (0 to 9, a to f) after the dash.",
        )
    live = await reviews.store.find_ids(given, live=True)
    matches = live or await reviews.store.find_ids(given)
    if len(matches) > 1:
        raise Refused(
            "ambiguous",
            f"{len(matches)}{' live' if live else ''} reviews begin with {given}: type more of the id.",
        )
    if not matches:
        raise Refused(
            "gone",
            f"No review's id begins with {given}. To see a deleted review's audit, type its whole id.",
        )
    return await reviews.load(matches.pop())


def is_full_id(given: str) -> bool:
    return is_review_id(given.strip().lower())


def operator() -> Reviewer:
    """The person who decides on the command line, for the audit.

    The name is the system's login name for this process's user id, because the environment (LOGNAME) could be
    forged.
    """
    try:
        import pwd

        login = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # in a container, a user may have no name
        login = f"uid-{os.getuid()}"
    return Reviewer(
        channel=CLI, team=socket.gethostname(), id=login, name=f"{login} (command line)"
    )
