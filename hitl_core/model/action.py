"""One call of a review that waits for people."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from hitl_core.model.decision import Decision, DecisionType, EditRecord, Reviewer, Vote
from hitl_core.model.reviewers import Reviewers
from hitl_core.model.route import Place, Route
from hitl_core.model.value import Value
from hitl_core.model.verdict import Verdict


class ActionRequest(Value):
    """What is asked. The arguments are bytes of their own: `review.arguments(action.key)`.

    The others are for the agent's own system: `text` is the description as that one words it, where it
    isn't `description`; `title` what it calls the action, where no tool may be called that; `interrupt_id`
    what its answer is sent to; `takes` which decisions its interrupt takes, of which the policy may allow
    fewer; `extra` what else its interrupt says, as that system writes it. `by_agent`: the description is the
    agent's own, and not the policy's.
    """

    tool_call_id: str
    name: str
    description: str
    text: str | None = None
    title: str | None = None
    interrupt_id: str | None = None
    takes: tuple[DecisionType, ...] = ()
    extra: dict[str, Any] | None = None
    by_agent: bool = False


class Output(Value):
    """Where a person's answer goes: under `key` into the agent's state, or into the tool's arguments."""

    key: str
    into: Literal["state", "input"]


class ReviewConfig(Value):
    """How it may be answered. The schemas are JSON Schemas, None where there is none; `answer_schema` is that
    of a person's own answer (a text, a choice). `policy_schema` is the part of `args_schema` that the policy
    vouches for: only that may hide and name arguments; the rest only checks them.

    `must_read`: nobody approves it who has not seen all of it. `confirm`: Approve asks once more. `redact`
    are JSON pointers to values that people never see; the digest covers them.
    """

    action_name: str
    allowed_decisions: tuple[DecisionType, ...]
    args_schema: dict[str, Any] | None = None
    policy_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    answer_schema: dict[str, Any] | None = None
    output: Output | None = None
    must_read: bool = False
    confirm: bool = False
    redact: tuple[str, ...] = ()


class Grant(NamedTuple):
    """Who may decide by one part of the route: those named, or the members of these places."""

    places: tuple[Place, ...]
    reviewers: Reviewers

    @property
    def includes_members(self) -> bool:
        return self.reviewers.channel_members or not self.reviewers.is_explicit


class Escalation(Value):
    """One place more. `step` is its index in the route, None for the fallback: a place could not be reached.
    `by` is None where no person did it; `why` is what the person wrote, or what was wrong with the place.
    `open`: nobody was left of those who may decide, so the people of the fallback do.
    """

    to: Place
    at: float
    by: Reviewer | None
    why: str | None = None
    step: int | None = None
    open: bool = False


class EarlierTerms(Value):
    """How an action was asked about before an edit fell under another rule, as which tool. `left` is when it
    went to other places or people, None where it stayed with those who were asked.
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
    """`key` is the call's position in the turn ("1", "2", …); `revision` is raised by an edit.

    Steps and deadline count from `clock`. `votes` are those on the newest revision, one a person; `edits` who
    made the revisions from 2 on; `reminded` when those who are still needed were reminded.

    Each edit is judged again: `config` and `route` are those of the newest revision, and `earlier` has what
    they were before, the oldest first. `since` is when it came to the people who are asked now, None for
    the submission; `until` a deadline that an earlier revision had, which no edit moves to a later time.
    """

    key: str
    submitted_at: float
    request: ActionRequest
    config: ReviewConfig
    route: Route
    digest: str
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

    @property
    def clock_start(self) -> float | None:
        """When its clock started, in seconds since the epoch; None while it waits for its first card."""
        start = self.submitted_at if self.since is None else self.since
        return start if self.route.clock == "submitted" else self.delivered_at

    @property
    def newest_rule(self) -> Verdict | None:
        """The rule that the newest edit fell under; None where the one of the call still speaks."""
        return next((edit.under for edit in reversed(self.edits) if edit.under), None)

    @property
    def name(self) -> str:
        """Which tool would run: the one asked for, or the one that an edit named."""
        return (self.edits[-1].name if self.edits else None) or self.request.name

    @property
    def approvals(self) -> tuple[Vote, ...]:
        """The largest group of approvals with one and the same answer, where there is one."""
        votes = [vote for vote in self.votes if vote.type == "approve"]
        groups = [tuple(vote for vote in votes if vote.agrees_with(one)) for one in votes]
        return max(groups, key=len, default=())

    @property
    def deciders(self) -> tuple[Reviewer, ...]:
        """Those whose word made the decision, the last one last; nobody where it was the deadline."""
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
    def approvals_needed(self) -> int:
        """How many approvals it still takes."""
        return max(0, self.route.reviewers.quorum - len(self.approvals)) if self.is_pending else 0

    @property
    def is_pending(self) -> bool:
        return self.decision is None

    @property
    def places(self) -> tuple[Place, ...]:
        """Everywhere this action stands, in the order in which it got there."""
        return _places(self.route, self.escalations)

    @property
    def former_places(self) -> dict[Place, float]:
        """Where it stood before an edit took it away, and when that was: nobody decides it there any more."""
        here = self.places
        gone = [one for one in self.earlier if one.left is not None]
        return {place: one.left or 0.0 for one in gone for place in one.places if place not in here}

    @property
    def grants(self) -> tuple[Grant, ...]:
        """By what people may decide it: by the rule itself, and by each place that it was passed on to."""
        return (
            Grant(self.route.notify, self.route.reviewers),
            *(Grant((e.to,), self._escalation_reviewers(e)) for e in self.escalations),
        )

    def _escalation_reviewers(self, escalation: Escalation) -> Reviewers:
        """A fallback gives nobody a right whom the rule doesn't name: else whoever makes a place unreachable
        would choose who decides.
        """
        if escalation.step is not None:
            return self.route.escalate[escalation.step].reviewers
        own = self.route.reviewers
        return Reviewers() if escalation.open else own

    @property
    def next_step(self) -> int | None:
        """The index of the escalation step that has not been taken yet."""
        taken = sum(1 for each in self.escalations if each.step is not None)
        return taken if taken < len(self.route.escalate) else None


def _places(route: Route, escalations: tuple[Escalation, ...]) -> tuple[Place, ...]:
    return tuple(dict.fromkeys([*route.notify, *(each.to for each in escalations)]))
