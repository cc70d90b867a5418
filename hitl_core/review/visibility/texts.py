"""The agent's texts about a review, as people may read them."""

from __future__ import annotations

from hitl_core.model import Action, Call, Review
from hitl_core.review.visibility.schemas import hides_options

WHY_HIDDEN = "not shown, because this review has hidden values"


def description_of(review: Review, action: Action) -> str | None:
    """None if it is not shown: a text of the agent, or of Python code that read the arguments."""
    request = action.request
    is_withheld = review.hides_values and (request.by_agent or request.computed)
    return None if is_withheld else request.description


def title_of(review: Review, action: Action) -> str | None:
    """The title that the agent's own system gives to the action; None also if it is not shown."""
    return None if review.hides_values else action.request.title


def reason_of(review: Review, call: Call) -> str | None:
    """Why the agent wants this call, "" if it gave no reason; None if it is not shown."""
    return None if review.hides_values and call.reason else call.reason or ""


def rule_reason_of(review: Review, call: Call) -> str:
    """Why the policy rules so; "" for a text that is not shown, because it is the agent's or Python code
    wrote it. A text of the agent (`verdict.by_agent`) must be shown as the agent's.
    """
    is_withheld = review.hides_values and (call.verdict.by_agent or call.verdict.computed)
    return "" if is_withheld else call.verdict.reason


def cancel_reason_of(review: Review) -> str | None:
    """Why the review was cancelled, or what people read in place of the agent's reason."""
    if (cancelled := review.cancelled) is None or not cancelled.reason:
        return None
    if cancelled.by is None and review.hides_values:
        return f"the agent's reason is {WHY_HIDDEN}"
    return cancelled.reason


def message_of_answer(
    review: Review, action: Action, answer: object, message: str | None
) -> str | None:
    """What a person wrote with this answer, or what is shown in its place."""
    if answer is None or not hides_options(review, action):
        return message
    return f"the answer is {WHY_HIDDEN}"
