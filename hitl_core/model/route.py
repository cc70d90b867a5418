"""Where an action is shown, who may decide, and what happens while nobody decides."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from hitl_core.model.decision import Reviewer
from hitl_core.model.place import DEFAULT_PLACE, ORIGIN, Place, normalize_group_id, normalize_id
from hitl_core.model.value import Value

UserIds = Annotated[tuple[str, ...], AfterValidator(lambda ids: tuple(map(normalize_id, ids)))]
GroupIds = Annotated[
    tuple[str, ...], AfterValidator(lambda ids: tuple(map(normalize_group_id, ids)))
]


class Reviewers(Value):
    """Who may decide, and how many of them are needed. If nobody is named, the members of the conversations
    that show the action may decide.

    `users` and `groups` are ids of the chat system ("U1", "S1"). `quorum` different people must approve the
    same revision; `reject_quorum` people must reject. `editor_approves`: an edit counts as its editor's
    approval.
    """

    users: UserIds = ()
    groups: GroupIds = ()
    channel_members: bool = False
    quorum: int = 1
    reject_quorum: int = 1
    exclude_requester: bool = False
    editor_approves: bool = True

    @property
    def is_explicit(self) -> bool:
        """Whether it names people, groups or "the members"."""
        return bool(self.users or self.groups or self.channel_members)

    @property
    def people_key(self) -> tuple[object, ...]:
        """A value to compare: it is equal for two Reviewers with the same people."""
        members = self.channel_members or not self.is_explicit
        return frozenset(self.users), frozenset(self.groups), members


class Step(Value):
    """Show the action in one more place, `after` seconds after its clock started. The people of this step may
    decide too: those in `reviewers`, or else the members of the place.
    """

    after: float
    to: Place
    reviewers: Reviewers = Reviewers()


class Expire(Value):
    """The deadline: `after` seconds after the clock started, the policy decides. It never approves."""

    after: float
    decision: Literal["reject", "respond", "ignore"] = "reject"
    message: str | None = None


class Route(Value):
    """Where an action is shown, and who may decide. Frozen into each call when the review is submitted.

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


class Escalation(Value):
    """An action, or a call in doubt, is now also shown at the place `to`: a step was taken, or the fallback.

    - `step`: the index of the step in the route. None means the fallback, because a place could not be
      reached; a call in doubt takes no steps;
    - `by`: None if it happened automatically;
    - `why`: the person's text, or the problem of the place;
    - `open`: the members of the fallback place may decide, because none of the people who may decide was left
      and the chain had no further step.
    """

    to: Place
    at: float
    by: Reviewer | None
    why: str | None = None
    step: int | None = None
    open: bool = False
