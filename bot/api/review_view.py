"""A review as its agent sees it. Pure."""

from __future__ import annotations

from typing import Any

from hitl_core import dialects
from hitl_core.errors import UnsupportedByDialect
from hitl_core.gate import answers
from hitl_core.model import Action, Review, Reviewer
from hitl_core.review import claims

from .wire import (
    ActionOut,
    AnswerOut,
    CallOut,
    CancelledOut,
    DecisionOut,
    OutcomeOut,
    Person,
    ReviewOut,
)


def to_review_out(review: Review) -> ReviewOut:
    return ReviewOut(
        id=review.id,
        thread_id=review.thread_id,
        turn=review.turn,
        path=list(review.path),
        requester=review.requester,
        status=review.status,
        created_at=review.created_at,
        settled_at=review.settled_at,
        done_at=review.done_at,
        cancelled=review.cancelled
        and CancelledOut(
            by=_person(review.cancelled.by), at=review.cancelled.at, reason=review.cancelled.reason
        ),
        actions=[_action(action) for action in review.actions],
        in_doubt=[call.tool_call_id for call in review.calls_in_doubt],
        outcome=_outcome(review) if has_outcome(review) else None,
        dialect=review.dialect,
        resume=_resume(review) if has_outcome(review) and review.actions else None,
    )


def has_outcome(review: Review) -> bool:
    """Whether nobody must be asked any more, so that the agent can continue."""
    return review.status != "pending" and not review.calls_in_doubt


def _outcome(review: Review) -> OutcomeOut:
    running = claims.runnable_calls(review) if review.status != "done" else ()
    return OutcomeOut(
        execute=[
            CallOut(
                id=call.tool_call_id,
                name=review.tool_name(call),
                args=review.arguments(call.key).parse(),
            )
            for call in running
        ],
        answers=[AnswerOut(**answer._asdict()) for answer in answers(review)],
        jump_to_model=not running,
    )


def _resume(review: Review) -> Any:
    try:
        return dialects.get(review.dialect).dump_decisions(review)
    except UnsupportedByDialect:
        return None


def _action(action: Action) -> ActionOut:
    decision = action.decision
    return ActionOut(
        tool_call_id=action.request.tool_call_id,
        name=action.request.name,
        description=action.request.description,
        allowed_decisions=list(action.config.allowed_decisions),
        decision=decision
        and DecisionOut(
            type=decision.type,
            by=_person(decision.by),
            at=decision.at,
            message=decision.message,
            name=decision.name,
            answer=decision.answer,
        ),
    )


def _person(by: Reviewer | None) -> Person | None:
    return by and Person(channel=by.channel, team=by.team, id=by.id, name=by.name)
