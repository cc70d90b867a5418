"""Where a review is shown, and what happens while nobody decides."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.reviewers import Reviewers
from hitl_core.model.value import Value

#: `channel:target`: `slack:#team-ops`, `slack:C0123ABCD`, a person's `slack:U0123ABCD`, a group's
#: `slack:S0123ABCD`, a thread's `slack:C0123ABCD/1700000000.000100`; or one of the two below.
Place = str

#: Where the bot's own settings say (HITL_CHANNEL): the agent's process need not know.
DEFAULT_PLACE: Place = "default"
#: In a policy only: where the agent was asked. A review names the thread itself, or DEFAULT_PLACE.
ORIGIN: Place = "origin"


class Step(Value):
    """Show the review in one more place, `after` seconds from when its clock started. Its people may decide
    too: those whom `reviewers` names, else the members of the place.
    """

    after: float
    to: Place
    reviewers: Reviewers = Reviewers()


class Expire(Value):
    """Settle by the policy, `after` seconds from when its clock started. Never an approval: silence approves
    nothing.
    """

    after: float
    decision: Literal["reject", "respond", "ignore"] = "reject"
    message: str | None = None


class Route(Value):
    """Frozen into each call of a review when it is submitted.

    `remind` is how long those who are still needed are left alone, in seconds; None reminds nobody. The clock
    starts with the submission, or when the first card was `delivered`. `fallback` is where an action goes
    that could not be shown where it should.
    """

    notify: tuple[Place, ...] = (DEFAULT_PLACE,)
    reviewers: Reviewers = Reviewers()
    escalate: tuple[Step, ...] = ()
    expire: Expire | None = None
    remind: float | None = None
    clock: Literal["submitted", "delivered"] = "submitted"
    fallback: Place | None = None

    def resolve_origin(self, origin: Place | None) -> Route:
        """With the place itself where the policy says `origin`."""
        if ORIGIN not in self.notify:
            return self
        known = [(origin or DEFAULT_PLACE) if place == ORIGIN else place for place in self.notify]
        return self.model_copy(update={"notify": tuple(dict.fromkeys(known))})
