"""A review as JSON for programs. Pure."""

from __future__ import annotations

from typing import Any

from hitl_core.model import Action, Call, Decision, Review, Reviewer, Run, Snapshot
from hitl_core.review import (
    agent_problem_of,
    cancel_reason_of,
    deadline,
    description_of,
    hides_options,
    message_of_answer,
    reason_of,
    rule_reason_of,
    title_of,
    visible_args,
)

Json = dict[str, Any]


def review_to_json(snapshot: Snapshot, *, with_args: bool) -> Json:
    """The review as JSON. Times are seconds since the epoch by the store's clock; a missing value is null."""
    review = snapshot.review
    numbers = {action.key: n for n, action in enumerate(review.actions, start=1)}
    cancelled, lease = review.cancelled, review.lease
    return {
        "id": review.id,
        "agent": review.agent,
        "thread_id": review.thread_id,
        "turn": review.turn,
        "path": list(review.path),
        "requester": review.requester,
        "status": review.status,
        "held": snapshot.held,
        "created_at": review.created_at,
        "settled_at": review.settled_at,
        "done_at": review.done_at,
        "cancelled": cancelled
        and {
            "by": _person_to_json(cancelled.by),
            "at": cancelled.at,
            "reason": cancel_reason_of(review),
        },
        "lease": lease and {"holder": lease.holder, "until": lease.until},
        "calls": [
            _call_to_json(review, call, numbers.get(call.key), with_args=with_args)
            for call in review.calls
        ],
        "cards": [
            {"place": place, **ref.model_dump(), "version": snapshot.shown.get(place)}
            for place, ref in snapshot.posts.items()
        ],
        "delivery_problems": [
            {"place": place, **problem.model_dump()}
            for place, problem in review.delivery_problems.items()
        ],
        "agent_problem": review.agent_problem
        and {"why": agent_problem_of(review), "since": review.agent_problem.since},
        "version": review.version,
    }


def _call_to_json(review: Review, call: Call, number: int | None, *, with_args: bool) -> Json:
    """`number` is the action's number on the cards, null for a call that needs no review."""
    action = review.action(call.key)
    return {
        "number": number,
        "tool_call_id": call.tool_call_id,
        "name": review.tool_name(call),
        "asked_for": call.name,
        "title": action and title_of(review, action),
        **({"args": visible_args(review, call)} if with_args else {}),
        "verdict": {
            **call.verdict.model_dump(),
            "reason": rule_reason_of(review, call),
        },
        "reason": reason_of(review, call) or None,
        "action": action and _action_to_json(review, action),
        "run": _run_to_json(review.runs.get(call.key)),
    }


def _action_to_json(review: Review, action: Action) -> Json:
    return {
        "description": description_of(review, action),
        "allowed_decisions": list(action.config.allowed_decisions),
        "revision": action.revision,
        "rejected_before": action.rejected_before
        and action.rejected_before.model_dump(exclude={"redact"}),
        "places": list(action.places),
        "escalations": [
            {"to": e.to, "at": e.at, "by": _person_to_json(e.by), "fallback": e.step is None}
            for e in action.escalations
        ],
        "expires_at": deadline(action),
        "decision": _decision_to_json(review, action, action.decision),
    }


def _decision_to_json(review: Review, action: Action, decision: Decision | None) -> Json | None:
    return decision and {
        "type": decision.type,
        "by": _person_to_json(decision.by),
        "at": decision.at,
        "message": message_of_answer(review, action, decision.answer, decision.message),
        "name": decision.name,
        "answer": None if hides_options(review, action) else decision.answer,
    }


def _run_to_json(run: Run | None) -> Json | None:
    return run and {
        **run.model_dump(exclude={"by", "result_hash", "rerun_by"}),
        "by": _person_to_json(run.by),
    }


def _person_to_json(by: Reviewer | None) -> Json | None:
    return by and by.model_dump()
