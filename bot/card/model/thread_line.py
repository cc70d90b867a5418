"""What is written below a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hitl_core.model import Place, Reviewer

from .values import NOBODY, Edit, PeopleRefs


@dataclass(frozen=True)
class ThreadLine:
    """A line in the card's thread: an edit, a rejection, a reminder, an escalation, or calls in doubt.

    `names`: the tools. `to`: an escalation's place. `why`: the person's reason. `people`: who is needed and
    called. `key`: no other line of the review at this place has it.
    """

    at: float
    kind: Literal["edited", "rejected", "reminded", "escalated", "doubt"]
    names: tuple[str, ...]
    by: tuple[Reviewer, ...] = ()
    edit: Edit | None = None
    why: str | None = None
    to: Place | None = None
    fallback: bool = False
    people: PeopleRefs = NOBODY
    key: str = ""
