"""A Request becomes a Review: everything frozen that anybody will ask later. Pure."""

from __future__ import annotations

from hitl_core.gate import origin
from hitl_core.gate.calls import Frozen, Request
from hitl_core.gate.turns import Turn, id_of
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
from hitl_core.review.changed import event_of


def build_from(turn: Turn, request: Request, partitions: int, now: float) -> tuple[Review, Event]:
    """A review with its verdicts, at `now`. Settled at once where nobody has to be asked. Raises
    InvalidToolCall for an origin that is none, and where it has to be known who the requester is.
    """
    origin.check_origin(turn.origin)
    origin.check_requester(turn.requester, request.rulings)
    calls = request.calls
    args = calls.written if isinstance(calls, Frozen) else [encode(call.args) for call in calls]
    digests = [each.digest for each in args]
    kept: list[Call] = []
    actions: list[Action] = []
    each = zip(calls, request.rulings, digests, strict=True)
    for position, (call, ruling, digest) in enumerate(each, start=1):
        key, route = str(position), ruling.route.settled(turn.origin)
        kept.append(
            Call(
                key=key,
                tool_call_id=call.id,
                name=call.name,
                digest=digest,
                verdict=ruling.verdict,
                route=route,
                idempotent=ruling.idempotent,
            )
        )
        if ruling.verdict.kind == "review":
            actions.append(_action(key, call, ruling, route, digest, now))
    review = Review(
        id=id_of(turn, [call.id for call in calls], partitions),
        agent=turn.agent,
        thread_id=turn.thread_id,
        turn=turn.name,
        requester=turn.requester,
        path=request.path,
        dialect=request.dialect,
        policy=request.policy,
        origin=turn.origin,
        created_at=now,
        calls=tuple(kept),
        actions=tuple(actions),
        tools=dict(request.tools),
        excerpt=request.excerpt,
        edit_notice=request.edit_notice,
        status="pending" if actions else "settled",
        settled_at=None if actions else now,
        args={f"{call.key}:1": data for call, data in zip(kept, args, strict=True)},
    )
    event = event_of("submitted", review, now, (action.key for action in actions))
    return review, event.model_copy(update={"before": None})


def _action(
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
        ),
        config=ReviewConfig(
            action_name=call.name,
            allowed_decisions=ruling.allowed_decisions,
            args_schema=ruling.args_schema,
            policy_schema=ruling.policy_schema,
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
