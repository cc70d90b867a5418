"""A Home: the reviews of one person, those that wait for them first. And what each open Home shows."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from hitl_core.errors import Refused
from hitl_core.model import Action, Grant, MessageRef, Review, Reviewer, Snapshot
from hitl_core.review import decisions
from hitl_core.store import Store

from ..card import Card
from ..logs import trace_of
from ..people import Directory
from .action_pages import needs_others
from .reply import PermittedSnapshot

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class HomeTask:
    """A review that waits for this person: its card, the keys of the actions that they may decide, and the
    keys of the doubts that they may answer.
    """

    review: Review
    card: Card
    keys: tuple[str, ...]
    doubts: tuple[str, ...]
    ref: MessageRef | None


@dataclass(frozen=True)
class HomeLine:
    """A review in which this person has nothing to do. `at`: when they decided, or when it was submitted.
    `keys`: the calls whose content they may see. `is_unknown`: it is unknown now whether they may decide.
    """

    card: Card
    at: float
    ref: MessageRef | None
    keys: frozenset[str]
    is_unknown: bool = False


@dataclass(frozen=True)
class Home:
    """Page `page` (from 0) of `pages`. `total`: the number of reviews that wait for this person on all pages;
    `more`: not all were counted. `unreadable`: the number of reviews of this page that could not be read.
    """

    mine: tuple[HomeTask, ...]
    others: tuple[HomeLine, ...]
    decided: tuple[HomeLine, ...]
    page: int
    pages: int
    total: int
    more: bool
    unreadable: int = 0


async def offload_home(home: Home, draw: Callable[[Home], T]) -> T:
    """Returns `draw(home)`, which must be pure. It runs in a thread if anything waits, because agents choose
    how much that is. Reviews that can't be drawn are left out, and counted as unreadable.
    """
    return await asyncio.to_thread(_draw, home, draw) if home.mine else _draw(home, draw)


def _draw(home: Home, draw: Callable[[Home], T]) -> T:
    try:
        return draw(home)
    except Exception as error:
        log.error("a Home can't be drawn: %s", trace_of(error))
        empty = replace(home, mine=(), others=(), decided=())

        def can_draw(one: Home) -> bool:
            try:
                draw(one)
            except Exception:
                return False
            return True

        drawable = replace(
            home,
            mine=tuple(one for one in home.mine if can_draw(replace(empty, mine=(one,)))),
            others=tuple(one for one in home.others if can_draw(replace(empty, others=(one,)))),
            decided=tuple(one for one in home.decided if can_draw(replace(empty, decided=(one,)))),
        )
        if not (lost := _count(home) - _count(drawable)):
            raise
        return draw(replace(drawable, unreadable=home.unreadable + lost))


def _count(home: Home) -> int:
    return len(home.mine) + len(home.others) + len(home.decided)


#: How long a Home is updated after it was opened, in seconds.
KEEP_FOR = 600.0


@dataclass(frozen=True)
class HomeView:
    """The page that a Home shows, and the digest of what was sent; "" if unknown. `message`: its message, in
    a channel whose Homes are messages. `is_covered`: a form or page is shown in its place, and an update
    would remove it.
    """

    page: int = 0
    digest: str = ""
    message: str = ""
    is_covered: bool = False


class HomeViews:
    """What each open Home shows. It is in the store, because all bots share it. `person` is a person's key,
    with the channel. Every method raises StoreUnavailable or StoreError.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def record_open(self, person: str) -> None:
        """Record that this Home was opened: it is updated for a while."""
        await self._store.record_home_view(person, await self._store.now())

    async def load(self, person: str) -> HomeView:
        try:
            return HomeView(**json.loads(await self._store.draft(_key(person)) or b"{}"))
        except (TypeError, ValueError):  # another version wrote it
            return HomeView()

    async def save(self, person: str, view: HomeView) -> None:
        data = json.dumps(asdict(view)).encode()
        await self._store.save_draft(_key(person), data, KEEP_FOR)

    async def forget(self, person: str) -> None:
        """Forget what this Home shows, so that the next update is sent even if nothing changed."""
        await self._store.drop_draft(_key(person))


def _key(person: str) -> str:
    return f"home:{person}"


class PermissionUnknown(Exception):
    """It is unknown now whether this person may decide. The text is a sentence."""


class HomePermissions:
    """Finds what in a review waits for one person."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def open_keys(self, who: Reviewer, snapshot: Snapshot) -> tuple[list[str], list[str]]:
        """The keys of the actions that this person should decide, and of the doubts that they should answer.
        Raises PermissionUnknown if none is certain and some are unknown.
        """
        review = snapshot.review
        actions = [action for action in review.actions if action.is_pending]
        open_ = [
            call
            for call in review.calls_in_doubt
            if not any(vote.by.is_same_human(who) for vote in review.runs[call.key].votes)
        ]
        keys, doubts, unknown = list[str](), list[str](), list[PermissionUnknown]()
        for action in actions:
            try:
                if await self._needs_decision(who, snapshot, action):
                    keys.append(action.key)
            except PermissionUnknown as error:
                unknown.append(error)
        for call in open_:
            try:
                if await self.can_decide(who, snapshot, review.grants_of(call)):
                    doubts.append(call.key)
            except PermissionUnknown as error:
                unknown.append(error)
        if unknown and not (keys or doubts):
            raise unknown[0]
        return keys, doubts

    async def may_need_decision(self, who: Reviewer, snapshot: Snapshot) -> bool:
        """Whether the review may wait for this person. True if that is unknown."""
        try:
            return any(await self.open_keys(who, snapshot))
        except PermissionUnknown:
            return True

    async def _needs_decision(self, who: Reviewer, snapshot: Snapshot, action: Action) -> bool:
        review = snapshot.review
        if needs_others(review, action, who):
            return False
        try:
            decisions.check_decidable(review, action, action.revision, snapshot.now)
        except Refused:
            return False
        return await self.can_decide(who, snapshot, action.grants)

    async def can_decide(self, who: Reviewer, snapshot: Snapshot, grants: Sequence[Grant]) -> bool:
        """Raises PermissionUnknown."""
        seen = snapshot if isinstance(snapshot, PermittedSnapshot) else None
        if seen and seen.who.key == who.key and seen.permits(grants):
            return True
        try:
            await self._directory.check_can_decide(who, snapshot, grants)
        except Refused as refused:
            if refused.code in ("unavailable", "unknown_members"):
                raise PermissionUnknown(str(refused)) from refused
            return False
        return True
