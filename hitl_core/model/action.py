"""One tool call of a review that needs a decision by people."""

from __future__ import annotations

from typing import Any, NamedTuple

from hitl_core.model.call import EarlierRejection
from hitl_core.model.decision import Decision, DecisionType, EditRecord, Reviewer, Verdict, Vote
from hitl_core.model.place import Place
from hitl_core.model.review_config import ReviewConfig
from hitl_core.model.route import Escalation, Reviewers, Route
from hitl_core.model.value import Value


class ActionRequest(Value):
    """The request as people see it. The arguments are not here: see `review.arguments(action.key)`.

    `by_agent`: the agent wrote the description, not the policy. `computed`: Python code of the policy wrote
    the texts about this call, so they may quote the arguments.

    The other fields are for the agent's own system (its dialect):

    - `text`: the description in that system's wording, if it differs from `description`;
    - `title`: that system's name of the action, if it is not a valid tool name;
    - `interrupt_id`: the interrupt to which the answer is sent;
    - `accepted_decisions`: the decisions that the interrupt accepts. The policy may allow fewer;
    - `extra`: other fields of the interrupt, unchanged.
    """

    tool_call_id: str
    name: str
    description: str
    text: str | None = None
    title: str | None = None
    interrupt_id: str | None = None
    accepted_decisions: tuple[DecisionType, ...] = ()
    extra: dict[str, Any] | None = None
    by_agent: bool = False
    computed: bool = False


class Grant(NamedTuple):
    """Who may decide because of one part of the route: the named people, or the members of `places`."""

    places: tuple[Place, ...]
    reviewers: Reviewers

    @property
    def includes_members(self) -> bool:
        by = self.reviewers
        return by.channel_members or not (by.users or by.groups)


class EarlierTerms(Value):
    """The tool, config and route that an action had before another rule matched an edit.

    `left` is when the action moved to other places or people; None if it did not move.
    """

    tool: str
    config: ReviewConfig
    route: Route
    escalations: tuple[Escalation, ...] = ()
    reminded: tuple[float, ...] = ()
    left: float | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        return _places(self.route, self.escalations)


class Action(Value):
    """`key` is the call's position in the turn ("1", "2", …). Each edit adds 1 to `revision`.

    - `votes`: the votes on the newest revision, one for each person;
    - `edits`: the author of each revision from 2 on;
    - `reminded`: when reminders were sent;
    - `config`, `route`: of the newest revision, because the policy judges each edit again; `earlier`: those
      of the revisions before, oldest first;
    - `since`: from when the current people are asked; None means from submission. The release of a held
      review moves `since`, or `delivered_at`, later by the time of the hold;
    - `until`: the deadline of an earlier revision, because an edit can't extend it;
    - `rejected_before`: the rejected call that this is another attempt at, as it was at submission.

    Times are in seconds since the epoch. Escalation and deadline count from `clock_start`.
    """

    key: str
    submitted_at: float
    request: ActionRequest
    config: ReviewConfig
    route: Route
    args_hash: str
    revision: int = 1
    decision: Decision | None = None
    votes: tuple[Vote, ...] = ()
    edits: tuple[EditRecord, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    delivered_at: float | None = None
    reminded: tuple[float, ...] = ()
    since: float | None = None
    until: float | None = None
    earlier: tuple[EarlierTerms, ...] = ()
    rejected_before: EarlierRejection | None = None

    @property
    def clock_start(self) -> float | None:
        """When its clock started; None if it starts with the first card, which is not posted yet."""
        start = self.submitted_at if self.since is None else self.since
        return start if self.route.clock == "submitted" else self.delivered_at

    @property
    def newest_rule(self) -> Verdict | None:
        """The rule that now applies because of an edit; None if the rule of the original call applies."""
        return next((edit.under for edit in reversed(self.edits) if edit.under), None)

    @property
    def name(self) -> str:
        """The tool that would run: the requested one, or the one that an edit chose."""
        return (self.edits[-1].name if self.edits else None) or self.request.name

    @property
    def approvals(self) -> tuple[Vote, ...]:
        """The largest group of approvals that agree: all with the same answer, if there are answers."""
        votes = [vote for vote in self.votes if vote.type == "approve"]
        groups = [tuple(vote for vote in votes if vote.agrees_with(one)) for one in votes]
        return max(groups, key=len, default=())

    @property
    def deciders(self) -> tuple[Reviewer, ...]:
        """The people whose votes made the decision, the last one last; empty if the deadline decided."""
        decision = self.decision
        if decision is None or decision.by is None:
            return ()
        kind = "approve" if decision.type == "edit" else decision.type
        last = Vote(
            type=kind, by=decision.by, at=decision.at, revision=decision.revision, message=decision.message,
            answer=decision.answer,
        )  # fmt: skip
        people = [*(vote.by for vote in self.votes if vote.agrees_with(last)), decision.by]
        return tuple({who.key: who for who in people}.values())

    @property
    def is_pending(self) -> bool:
        return self.decision is None

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that show this action, in the order in which they were added."""
        return _places(self.route, self.escalations)

    @property
    def former_places(self) -> dict[Place, float]:
        """The places that no longer ask about the action because of an edit, each with the time of its
        end.
        """
        here = self.places
        moved = [terms for terms in self.earlier if terms.left is not None]
        return {
            place: terms.left or 0.0
            for terms in moved
            for place in terms.places
            if place not in here
        }

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Who may decide: one grant for the rule itself, one for each step that was taken, and one for an
        open fallback. A fallback that is not open gives no right: otherwise a person who archives a channel
        could choose who decides.
        """
        steps = self.route.escalate
        return (
            Grant(self.route.notify, self.route.reviewers),
            *(
                Grant((e.to,), Reviewers() if e.step is None else steps[e.step].reviewers)
                for e in self.escalations
                if e.step is not None or e.open
            ),
        )

    @property
    def coming_grants(self) -> tuple[Grant, ...]:
        """Who may decide after the steps that have not been taken yet."""
        start = self.next_step
        steps = () if start is None else self.route.escalate[start:]
        return tuple(Grant((step.to,), step.reviewers) for step in steps)

    @property
    def next_step(self) -> int | None:
        """The index of the next escalation step; None if there is none left."""
        taken = sum(1 for each in self.escalations if each.step is not None)
        return taken if taken < len(self.route.escalate) else None


def _places(route: Route, escalations: tuple[Escalation, ...]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys([*route.notify, *(each.to for each in escalations)]))
