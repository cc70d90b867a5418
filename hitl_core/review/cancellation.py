"""A review is cancelled: nobody is asked any more, and nothing of it runs. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import Cancellation, Review, Reviewer, Reviewers, Vote
from hitl_core.review import vote_count
from hitl_core.review.agent_texts import cancel_reason
from hitl_core.review.transition import Transition, check_not_cancelled, make_event


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
    if by is None and reason:
        reason = cancel_reason(review, reason)
    cancel_votes = review.cancels
    if by is not None:
        most = max((a.route.reviewers.reject_quorum for a in review.actions), default=1)
        vote = Vote(type="reject", by=by, at=now, revision=0, message=reason)
        cancel_votes, _, is_enough = vote_count.count_vote(
            cancel_votes, vote, Reviewers(reject_quorum=most)
        )
        if not is_enough:
            after = review.model_copy(update={"cancels": cancel_votes})
            event = make_event("voted", review, now, by=by, what="cancel", why=reason)
            return Transition(after, event)
        reason = "\n".join(dict.fromkeys(v.message for v in cancel_votes if v.message)) or None
    cancelled = Cancellation(by=by, at=now, reason=reason)
    settled = review.settled_at if review.status == "settled" else now
    update = {
        "status": "settled",
        "settled_at": settled,
        "cancelled": cancelled,
        "cancels": cancel_votes,
    }
    event = make_event("cancelled", review, now, by=by, why=cancelled.reason)
    return Transition(review.model_copy(update=update), event)
