"""The values of a Home: the reviews that one person sees in a list."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.model import MessageRef, Review

from ..card import Card


@dataclass(frozen=True)
class HomeTask:
    """A review that waits for this person: its card, the keys of the actions that they may decide, and of the
    doubts that they may answer.
    """

    review: Review
    card: Card
    keys: tuple[str, ...]
    doubts: tuple[str, ...]
    ref: MessageRef | None


@dataclass(frozen=True)
class HomeLine:
    """A review without anything to do for this person. `can_see`: they may see its content. `unknown`: why it
    is not known at the moment whether they may decide.
    """

    card: Card
    at: float
    ref: MessageRef | None
    can_see: bool
    unknown: str | None = None


@dataclass(frozen=True)
class Home:
    """Page `page` (from 0) of `pages`. `total` counts the reviews that wait for this person on all pages;
    `more`: there are more than were counted.
    """

    mine: tuple[HomeTask, ...]
    others: tuple[HomeLine, ...]
    decided: tuple[HomeLine, ...]
    page: int
    pages: int
    total: int
    more: bool
