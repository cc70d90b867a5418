"""What an agent reads over HTTP after an edit that chose another tool."""

from __future__ import annotations

from bot.api.review_view import to_review_out
from hitl_core.model import Review
from hitl_core.review import decisions
from tests.support.builders import START, person, proposal, review_of


def test_promise_1_a_call_runs_under_the_name_that_was_decided():
    """Given a review whose edit named another tool; then that one is what runs."""
    review, _ = review_of()
    review = decisions.decide(review, "1", proposal("approve"), person(), START).review

    outcome = to_review_out(_rename(review, "ask_gently")).outcome

    assert outcome is not None
    assert [call.name for call in outcome.execute] == ["ask_gently"]


def _rename(review: Review, name: str) -> Review:
    [action] = review.actions
    assert action.decision is not None
    decision = action.decision.model_copy(update={"name": name})
    return review.model_copy(
        update={"actions": (action.model_copy(update={"decision": decision}),)}
    )
