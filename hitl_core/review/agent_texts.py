"""The agent's own texts about its calls, as people may read them. Pure.

In a review that hides values nobody reads them: a text may quote a hidden value as it is, in part, encoded or
in another spelling, and no search finds all of that. Always shown are the arguments, without the hidden
values, and what the policy's file says.
"""

from __future__ import annotations

from hitl_core.model import Action, Call, Review

_WHY = "not shown, because this review has hidden values"


def description_of(review: Review, action: Action) -> str | None:
    """None if it is not shown: a text of the agent, or of Python code that read the arguments."""
    request = action.request
    is_withheld = review.hides_values and (request.by_agent or request.computed)
    return None if is_withheld else request.description


def title_of(review: Review, action: Action) -> str | None:
    """What the agent's own system calls it; None also if it is not shown."""
    return None if review.hides_values else action.request.title


def reason_of(review: Review, call: Call) -> str | None:
    """Why the agent wants this call, "" if it gave no reason; None if it is not shown."""
    return None if review.hides_values and call.reason else call.reason or ""


def rule_reason_of(review: Review, call: Call) -> str:
    """Why the policy rules so; "" for a text of Python code that is not shown."""
    action = review.action(call.key)
    is_withheld = review.hides_values and action is not None and action.request.computed
    return "" if is_withheld else call.verdict.reason


def result_text(review: Review, text: str) -> str:
    """The result of a call, or what is written in its place."""
    if not review.hides_values or not text:
        return text
    return f"{'failed' if text.startswith('failed') else 'done'}, the result is {_WHY}"


def cancel_reason(review: Review, reason: str) -> str:
    """Why the agent cancelled, or what is written in its place."""
    return f"the agent's reason is {_WHY}" if review.hides_values else reason
