"""The values of a card. Every text in them is fit to be read (`bot.text`), and none of it is markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hitl_core.model import DecisionType, Place, Reviewer


@dataclass(frozen=True)
class Argument:
    """One argument: its name, and its value as people read it; `block` stands on lines of its own."""

    label: str
    value: str
    block: bool


@dataclass(frozen=True)
class Shown:
    """The arguments of one call as far as a card has room. What is cut says so where it is cut; `missing`
    counts the characters that are not shown, `left_out` the arguments of which nothing is.
    """

    arguments: tuple[Argument, ...]
    missing: int
    left_out: int


@dataclass(frozen=True)
class Open:
    """An action that waits: everything that will run, and the answers that are allowed.

    `why` is the policy's description, "" where it says nothing of its own.
    """

    key: str
    revision: int
    number: int
    name: str
    why: str
    shown: Shown
    warnings: tuple[str, ...]
    allowed: tuple[DecisionType, ...]


@dataclass(frozen=True)
class Doubt:
    """A call that may or may not have run: its process died in between."""

    key: str
    attempt: int
    name: str
    shown: Shown


@dataclass(frozen=True)
class Change:
    """One argument that an edit changed: the part of it that differs. None where it was or is absent."""

    label: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Closed:
    """One quiet line: what was decided, by whom, and what came of it. `by` is None for the deadline, or an
    agent that cancels. `more_changes` counts those that are not told.
    """

    name: str
    type: DecisionType | Literal["allow", "cancel"]
    by: Reviewer | None
    message: str | None
    changes: tuple[Change, ...]
    more_changes: int
    result: str | None
    result_by: Reviewer | None


@dataclass(frozen=True)
class Elsewhere:
    """An action of the same review that was decided before it could be shown here."""

    name: str
    type: DecisionType
    by: Reviewer | None


@dataclass(frozen=True)
class Note:
    """One place more: from where, by a person's hand or (None) by time."""

    to: Place
    origin: tuple[Place, ...]
    at: float
    by: Reviewer | None


@dataclass(frozen=True)
class Next:
    """The next step: by a button now, by itself at `at`. `taken` counts those before it."""

    to: Place
    at: float
    taken: int


@dataclass(frozen=True)
class Ends:
    """The nearest deadline, and what the policy decides then; `name` is the tool, where they differ."""

    at: float
    decision: Literal["reject", "respond", "ignore"]
    name: str | None


@dataclass(frozen=True)
class Card:
    """`summary` is the notification: a full sentence. `more` counts open actions that are not listed.

    `took` is how long deciding took, in seconds, None while something waits or where a doubt was settled.
    """

    review_id: str
    place: Place
    requester: str | None
    title: str
    summary: str
    open: tuple[Open, ...]
    doubts: tuple[Doubt, ...]
    closed: tuple[Closed, ...]
    elsewhere: tuple[Elsewhere, ...]
    more: int
    notes: tuple[Note, ...]
    next: Next | None
    ends: Ends | None
    took: float | None
    places: tuple[Place, ...]
