"""Build the new `Review` of judged calls. It holds everything that is needed later. Pure."""

from __future__ import annotations

from hitl_core.gate.submission import origin
from hitl_core.gate.submission.calls import FrozenCalls, JudgedCalls
from hitl_core.gate.submission.review_key import ReviewKey, review_id_for
from hitl_core.model import (
    Action,
    ActionRequest,
    Call,
    Event,
    Review,
    ReviewConfig,
    Route,
    ToolCall,
    encode,
)
from hitl_core.policy import Ruling
from hitl_core.review import find_pointers, make_event


def build_review(
    review_key: ReviewKey, judged_calls: JudgedCalls, partitions: int, now: float
) -> tuple[Review, Event]:
    """A new review and its first event. It is settled at once if no call needs a person. Raises
    InvalidToolCall for a bad origin, and for a missing requester where the policy needs one.
    """
    asked_in = origin.read_origin(review_key.origin)
    requester = origin.requester_of(review_key.requester)
    origin.check_requester(requester, judged_calls.rulings)
    calls = judged_calls.calls
    args = (
        calls.encoded_args
        if isinstance(calls, FrozenCalls)
        else [encode(call.args) for call in calls]
    )
    stored_calls: list[Call] = []
    actions: list[Action] = []
    each = zip(calls, judged_calls.rulings, args, strict=True)
    for position, (call, ruling, data) in enumerate(each, start=1):
        key, route = str(position), ruling.route.resolve_origin(asked_in)
        stored_calls.append(_build_call(key, call, ruling, route, data.digest))
        if ruling.verdict.kind == "review":
            actions.append(_build_action(key, call, ruling, route, data.digest, now))
    review = Review(
        id=review_id_for(review_key, [call.id for call in calls], partitions),
        agent=review_key.agent,
        thread_id=review_key.thread_id,
        turn=review_key.turn,
        requester=requester,
        path=judged_calls.path,
        dialect=judged_calls.dialect,
        policy=judged_calls.policy,
        origin=asked_in,
        created_at=now,
        calls=tuple(stored_calls),
        actions=tuple(actions),
        tools=dict(judged_calls.tools),
        excerpt=judged_calls.excerpt,
        edit_notice=judged_calls.edit_notice,
        status="pending" if actions else "settled",
        settled_at=None if actions else now,
        args={f"{call.key}:1": data for call, data in zip(stored_calls, args, strict=True)},
    )
    event = make_event("submitted", review, now, (action.key for action in actions))
    return review, event.model_copy(update={"before": None})


def _build_call(key: str, call: ToolCall, ruling: Ruling, route: Route, digest: str) -> Call:
    hidden = find_pointers(ruling, call.args)
    return Call(
        key=key,
        tool_call_id=call.id,
        name=call.name,
        digest=digest,
        verdict=ruling.verdict,
        route=route,
        idempotent=ruling.idempotent,
        redact=() if ruling.verdict.kind == "review" else hidden,
        hides_values=bool(hidden),
        reason=(call.reason or "").strip() or None,
    )


def _build_action(
    key: str, call: ToolCall, ruling: Ruling, route: Route, digest: str, now: float
) -> Action:
    return Action(
        key=key,
        submitted_at=now,
        request=ActionRequest(
            tool_call_id=call.id,
            name=call.name,
            description=ruling.description,
            text=ruling.text,
            title=ruling.title,
            interrupt_id=ruling.interrupt_id,
            takes=ruling.takes,
            extra=ruling.extra,
            by_agent=ruling.by_agent,
            computed=ruling.computed,
        ),
        config=ReviewConfig(
            action_name=call.name,
            allowed_decisions=ruling.allowed_decisions,
            args_schema=ruling.args_schema,
            policy_schema=ruling.policy_schema,
            hiding_schema=ruling.hiding_schema,
            reject_reason=ruling.reject_reason,
            answer_schema=ruling.answer_schema,
            output=ruling.output,
            must_read=ruling.must_read,
            confirm=ruling.confirm,
            redact=ruling.redact,
        ),
        route=route,
        digest=digest,
    )
