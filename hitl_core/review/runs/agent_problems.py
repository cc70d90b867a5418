"""Why an agent can't go on with a decided review. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import AgentProblem, Review
from hitl_core.review.runs.claims import claim, finish, runnable_calls
from hitl_core.review.runs.leases import check_lease
from hitl_core.review.runs.results import CallResult
from hitl_core.review.transition import Transition, make_event
from hitl_core.review.visibility import WHY_HIDDEN

#: The longest reason, in characters.
MAX_WHY = 500


def record_problem(review: Review, fence: int, why: str, now: float) -> Transition:
    """Record why this process can't go on with the review. Only the first reason is kept until the review is
    done: otherwise its cards would be drawn again at each try. Raises Refused if there is one.
    """
    check_lease(review, fence, now)
    if review.agent_problem is not None:
        raise Refused("unchanged", "A problem of its agent is recorded already.")
    problem = AgentProblem(why=why[:MAX_WHY], since=now)
    after = review.model_copy(update={"agent_problem": problem})
    return Transition(after, make_event("stuck", review, now, why=why))


def end_stuck(review: Review, process: str, why: str, now: float) -> Transition:
    """End a review with which its agent can't go on. A call that did not start will never run. Raises Refused
    ("busy") unless a problem of its agent is recorded, and it is known what became of each started call.
    """
    unknown = ("started", "in_doubt", "paused")
    if review.agent_problem is None or any(run.state in unknown for run in review.runs.values()):
        raise Refused("busy", f"Review {review.id} is still open, and its agent tries again.")
    if review.status != "claimed" or review.lease is None or review.lease.until <= now:
        review = claim(review, process, now, 1.0).review
    notes = {
        call.key: CallResult.note(f"not executed: {why}")
        for call in runnable_calls(review)
        if review.action(call.key)
    }
    return finish(review, review.fence, notes, now)


def agent_problem_of(review: Review) -> str:
    """Why its agent can't go on, or what people read in place of it."""
    problem = review.agent_problem
    return WHY_HIDDEN if problem is None or review.hides_values else problem.why
