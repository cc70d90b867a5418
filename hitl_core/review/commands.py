"""What a person wants to do to a review, as values that know no chat system, and how each is applied. Pure.

`op` is the id of one click, submission or command: the same id counts only once. `message_ref` is the message
on which the person clicked; None for those who saw no card.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from hitl_core.errors import Refused
from hitl_core.model import (
    Cancellation,
    DoubtAnswer,
    MessageRef,
    Place,
    Review,
    Reviewer,
    Reviewers,
    Snapshot,
    Vote,
)
from hitl_core.review import decisions, escalation, holds, vote_count
from hitl_core.review.edits import JudgedProposal, Proposal
from hitl_core.review.runs import claims
from hitl_core.review.transition import Transition, check_not_cancelled, make_event
from hitl_core.review.visibility import cancel_reason_of


@dataclass(frozen=True)
class Decide:
    """A decision on one action. `proposal` has the revision and the seal that the person saw."""

    review_id: str
    action: str
    proposal: Proposal
    who: Reviewer
    op: str
    message_ref: MessageRef | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.action,)


@dataclass(frozen=True)
class DecideAll:
    """Several decisions, by the actions' keys: all are stored, or none. `seal` covers all of these
    actions.
    """

    review_id: str
    proposals: Mapping[str, Proposal]
    who: Reviewer
    op: str
    seal: str | None = None
    message_ref: MessageRef | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.proposals)


@dataclass(frozen=True)
class Escalate:
    """Takes the next step of all pending actions at the place of this message. `steps_on_card` is the number
    of steps that it showed.
    """

    review_id: str
    message_ref: MessageRef
    steps_on_card: int
    who: Reviewer
    op: str
    why: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class AnswerDoubt:
    """What became of a call in doubt. `attempt` and `seal` are those that the person saw."""

    review_id: str
    action: str
    answer: DoubtAnswer
    who: Reviewer
    op: str
    attempt: int | None = None
    seal: str | None = None
    message_ref: MessageRef | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.action,)


@dataclass(frozen=True)
class Cancel:
    """Stops the whole review. `who` is None if its agent cancels it."""

    review_id: str
    who: Reviewer | None
    op: str
    reason: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True)
class Release:
    """Releases a held review. People are asked about the calls that an agent has started, see
    `holds.unrecorded_starts`.
    """

    review_id: str
    who: Reviewer
    op: str

    @property
    def keys(self) -> tuple[str, ...]:
        return ()


Command = Decide | DecideAll | Escalate | AnswerDoubt | Cancel | Release


@dataclass(frozen=True)
class Findings:
    """The results of the look-ups for one command.

    - `ineligible_voters`: by the actions' keys, the keys of voters who may no longer decide;
    - `judged`, `has_new_grant`: of an edit, see `decisions.decide`;
    - `place`: where the card is from which the person acts; None on the command line and in a Home.
    """

    ineligible_voters: Mapping[str, Collection[str]] = field(default_factory=dict[str, list[str]])
    judged: JudgedProposal | None = None
    has_new_grant: bool = False
    place: Place | None = None


def apply_command(
    snapshot: Snapshot, command: Command, findings: Findings | None = None
) -> Transition:
    """Raises Refused, with a text for the person."""
    review, now, findings = snapshot.review, snapshot.now, findings or Findings()
    ineligible = findings.ineligible_voters
    match command:
        case Decide(action=key):
            return decisions.decide(
                review, key, command.proposal, command.who, now,
                ineligible_voters=ineligible.get(key, ()),
                has_new_grant=findings.has_new_grant, judged=findings.judged, place=findings.place,
            )  # fmt: skip
        case DecideAll():
            return decisions.decide_all(
                review, command.proposals, command.who, now,
                ineligible_voters=ineligible, seal=command.seal, place=findings.place,
            )  # fmt: skip
        case Escalate():
            assert findings.place is not None  # only the bot knows where a message is
            return escalation.escalate(
                review, findings.place, command.who, now,
                steps_on_card=command.steps_on_card, why=command.why,
            )  # fmt: skip
        case AnswerDoubt(action=key):
            return claims.resolve(
                review, key, command.answer, command.who, now, attempt=command.attempt,
                ineligible_voters=ineligible.get(key, ()), seal=command.seal,
                place=findings.place,
            )  # fmt: skip
        case Cancel():
            return cancel(review, command.who, command.reason, now)
        case Release():
            return holds.release(snapshot, command.who)
    assert_never(command)


def cancel(review: Review, by: Reviewer | None, reason: str | None, now: float) -> Transition:
    """Cancel a review before any of its calls ran. After that nobody can decide, and nothing runs.

    `by` is None if the agent itself cancels. For people it counts as a rejection of all actions, and the
    largest `reject_quorum` of them applies.
    """
    check_not_cancelled(review)
    if review.status not in ("pending", "settled"):
        raise Refused(
            "started", "It can't be cancelled any more: its agent already has the result."
        )
    if review.runs:
        raise Refused("started", "It can't be cancelled any more: one of its calls may have run.")
    reason = (reason or "").strip() or None
    cancel_votes = review.cancel_votes
    if by is not None:
        most = max((a.route.reviewers.reject_quorum for a in review.actions), default=1)
        vote = Vote(type="reject", by=by, at=now, revision=0, message=reason)
        cancel_votes, _, is_enough = vote_count.count_vote(
            cancel_votes, vote, Reviewers(reject_quorum=most)
        )
        if not is_enough:
            after = review.model_copy(update={"cancel_votes": cancel_votes})
            event = make_event("voted", review, now, by=by, what="cancel", why=reason)
            return Transition(after, event)
        reason = "\n".join(dict.fromkeys(v.message for v in cancel_votes if v.message)) or None
    cancelled = Cancellation(by=by, at=now, reason=reason)
    settled = review.settled_at if review.status == "settled" else now
    update = {
        "status": "settled",
        "settled_at": settled,
        "cancelled": cancelled,
        "cancel_votes": cancel_votes,
    }
    after = review.model_copy(update=update)
    event = make_event("cancelled", review, now, by=by, why=cancel_reason_of(after))
    return Transition(after, event)
