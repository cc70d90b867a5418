"""Why an agent can't go on with a decided review. Pure."""

from __future__ import annotations

from hitl_core.errors import Refused
from hitl_core.model import AgentProblem, Review
from hitl_core.review.runs.claims import check_lease
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


def agent_problem_of(review: Review) -> str:
    """Why its agent can't go on, or what people read in place of it."""
    problem = review.agent_problem
    return WHY_HIDDEN if problem is None or review.hides_values else problem.why
