"""A review, and what the store has beside its own fields."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.model.place import MessageRef, Place
from hitl_core.model.review import Review

#: The prefix of a mark that says that an agent has started a call, although the review may not know it.
STARTED_MARK = "ran:"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A review as it was loaded, with the store's time `now`. It is not stored, so it is not checked again.

    - `posts`: the message of each place;
    - `shown`: the version that each message shows;
    - `chain`: the head of its audit: the number of entries, and the hash of the last one;
    - `marks`: notes that are not decisions, for example who has read what;
    - `held`: the store lost writes, so people and agents may have seen a newer state than this. Nothing
      changes it until a person releases it;
    - `held_since`: when that began; None if it is not held.
    """

    review: Review
    posts: dict[Place, MessageRef]
    shown: dict[Place, int]
    now: float
    chain: str = ""
    marks: frozenset[str] = frozenset()
    held: bool = False
    held_since: float | None = None

    @property
    def started_marks(self) -> frozenset[str]:
        return frozenset(mark for mark in self.marks if mark.startswith(STARTED_MARK))
