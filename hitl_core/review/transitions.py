"""The state machine, people's half and time's, in one place. Pure: `(review, …, now) → (review, event)`.

A transition raises Refused where it changes nothing; the text is for the person who asked.
"""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import Cancellation, Review, Reviewer, Reviewers, Vote
from hitl_core.review import tally
from hitl_core.review.changed import VERBS, Changed, check_open, check_wanted, event_of
from hitl_core.review.clock import LAST_STEP_REMINDER, deadline, due_at, remind_at, step_at
from hitl_core.review.proposal import Proposal
from hitl_core.review.redaction import secrets_of, without
from hitl_core.review.routing import escalate, reroute, steps_taken
from hitl_core.review.timing import delivered, fire
from hitl_core.review.troubles import end_trouble, note_trouble
from hitl_core.review.voting import answer, asks_anew, check_voter, decide

__all__ = [
    "LAST_STEP_REMINDER",
    "VERBS",
    "Changed",
    "Proposal",
    "answer",
    "asks_anew",
    "cancel",
    "check_open",
    "check_voter",
    "check_wanted",
    "deadline",
    "decide",
    "delivered",
    "due_at",
    "end_trouble",
    "escalate",
    "event_of",
    "fire",
    "note_trouble",
    "remind_at",
    "reroute",
    "step_at",
    "steps_taken",
]


def cancel(review: Review, by: Reviewer | None, reason: str | None, now: float) -> Changed:
    """Withdraw a review before anything of it ran: nobody is asked any more, and nothing of it runs. `by` is
    None for the agent itself. For people it is a no to all of it: it takes as many of them as the action
    that takes most to reject.
    """
    check_wanted(review)
    if review.status not in ("pending", "settled"):
        raise Refused("started", "Its agent has it already: it can't be cancelled any more.")
    if review.runs:
        raise Refused("started", "Something of it may have run: it can't be cancelled any more.")
    reason = (reason or "").strip() or None
    if by is None and reason:  # an agent may repeat what people must not see
        reason = without(
            reason, [each for a in review.actions for each in secrets_of(review, a.key)]
        )
    votes = review.cancels
    if by is not None:
        most = max((a.route.reviewers.reject_quorum for a in review.actions), default=1)
        vote = Vote(type="reject", by=by, at=now, revision=0, message=reason)
        votes, _, enough = tally.count(votes, vote, Reviewers(reject_quorum=most))
        if not enough:
            after = review.model_copy(update={"cancels": votes})
            event = event_of("voted", review, now, by=by, what="cancel", why=reason)
            return Changed(after, event)
        reason = "\n".join(dict.fromkeys(v.message for v in votes if v.message)) or None
    cancelled = Cancellation(by=by, at=now, reason=reason)
    settled = review.settled_at if review.status == "settled" else now
    update = {"status": "settled", "settled_at": settled, "cancelled": cancelled, "cancels": votes}
    event = event_of("cancelled", review, now, by=by, why=cancelled.reason)
    return Changed(review.model_copy(update=update), event)
