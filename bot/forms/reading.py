"""What a person has read. It follows from the pages that a channel has shown them, and is recorded (by
`ReadMarks`) only after it has. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.model import Review

from ..card import find_open_action
from ..inbox import ActionRef


@dataclass(frozen=True)
class ArgumentsPage:
    """A page of all arguments of an action: `number` from 0 of `count`. The next page is reached only from
    the one before.
    """

    target: ActionRef
    number: int
    count: int

    @property
    def reads(self) -> ActionRef | None:
        """What a person has read all of, once this page was shown: the last page completes it."""
        return self.target if self.number == self.count - 1 else None


def read_on_one_page(review: Review, key: str) -> ActionRef | None:
    """What a person has read all of, once this action was shown to them as the Review modal shows it; None if
    that is cut, or if the policy does not require to read it.
    """
    action = review.action(key)
    if action is None or not action.is_pending or not action.config.must_read:
        return None
    if find_open_action(review, key).excerpt.missing:
        return None
    return ActionRef(review.id, key, action.revision)
