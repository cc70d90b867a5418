"""A Home: the reviews of one person, those that wait for them first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from hitl_core.model import MessageRef, Review

from ...card import MISSING, UNSURE_ACTIONS, Card, Line, unreadable_line
from ...logs import trace_of

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class HomeTask:
    """A review that waits for this person: its card, the keys of the actions that they may decide, and the
    keys of the doubts that they may answer. `is_unsure`: of other actions it is unknown now.
    """

    review: Review
    card: Card
    keys: tuple[str, ...]
    doubts: tuple[str, ...]
    ref: MessageRef | None
    is_unsure: bool = False


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
    `more`: not all were counted. `unsure`: it is unknown whether more wait than the `total`. `unreadable`:
    the number of reviews of this page that could not be read. `missing`: a part of the store gave no answer.
    """

    mine: tuple[HomeTask, ...]
    others: tuple[HomeLine, ...]
    decided: tuple[HomeLine, ...]
    page: int
    pages: int
    total: int
    more: bool
    unsure: bool = False
    unreadable: int = 0
    missing: bool = False

    @property
    def alerts(self) -> list[Line]:
        """What can't be shown, or is not known."""
        unreadable = [unreadable_line(self.unreadable)] if self.unreadable else []
        unsure = [UNSURE_ACTIONS] if any(task.is_unsure for task in self.mine) else []
        return [*([MISSING] if self.missing else []), *unsure, *unreadable]


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
