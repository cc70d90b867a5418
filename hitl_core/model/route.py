"""Where an action is shown, who may decide, and what happens while nobody decides."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.place import DEFAULT_PLACE, ORIGIN, Place
from hitl_core.model.reviewers import Reviewers
from hitl_core.model.value import Value


class Step(Value):
    """Show the action in one more place, `after` seconds after its clock started. The people of this step may
    decide too: those that `reviewers` names, or else the members of the place.
    """

    after: float
    to: Place
    reviewers: Reviewers = Reviewers()


class Expire(Value):
    """The deadline: the policy decides, `after` seconds after the clock started. It never approves."""

    after: float
    decision: Literal["reject", "respond", "ignore"] = "reject"
    message: str | None = None


class Route(Value):
    """Frozen into each call when the review is submitted.

    - `remind`: the time between reminders, in seconds; None means no reminders;
    - `clock`: when the clock starts: at submission, or when the first card was delivered;
    - `fallback`: the place for an action if one of its own places can't be reached.
    """

    notify: tuple[Place, ...] = (DEFAULT_PLACE,)
    reviewers: Reviewers = Reviewers()
    escalate: tuple[Step, ...] = ()
    expire: Expire | None = None
    remind: float | None = None
    clock: Literal["submitted", "delivered"] = "submitted"
    fallback: Place | None = None

    def resolve_origin(self, origin: Place | None) -> Route:
        """Replace `origin` by the real place; by DEFAULT_PLACE if `origin` is None."""
        if ORIGIN not in self.notify:
            return self
        known = [(origin or DEFAULT_PLACE) if place == ORIGIN else place for place in self.notify]
        return self.model_copy(update={"notify": tuple(dict.fromkeys(known))})
