"""Build the new `Review` of judged calls. It holds everything that is needed later."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.calls import FrozenCalls, JudgedCalls
from hitl_core.gate.submission.review_key import ReviewKey, read_origin, review_id_for
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
from hitl_core.policy import USER_ID, Ruling, names_person
from hitl_core.review import find_pointers, make_event

#: A person, as Slack writes a mention, and with their workspace.
_MENTION = re.compile(r"<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>")
_IN_TEAM = re.compile(r"slack:[TE][A-Z0-9]{1,30}/([UW][A-Z0-9]{1,30})")


def build_review(
    review_key: ReviewKey, judged_calls: JudgedCalls, partitions: int, now: float
) -> tuple[Review, Event]:
    """A new review and its first event. It is settled at once if no call needs a person. Raises
    InvalidToolCall for a bad origin, and for a missing requester where the policy needs one.
    """
    asked_in = read_origin(review_key.origin)
    requester = requester_of(review_key.requester)
    check_requester(requester, judged_calls.rulings)
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
        args_hash = data.hash
        stored = _build_call(key, call, ruling, route, args_hash)
        if judged_calls.withholds_texts:
            stored = stored.model_copy(update={"hides_values": True})
        stored_calls.append(stored)
        if ruling.verdict.kind == "review":
            actions.append(_build_action(key, call, ruling, route, args_hash, now))
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
        kept_policy=judged_calls.kept_policy,
        edit_notice=judged_calls.edit_notice,
        status="pending" if actions else "settled",
        settled_at=None if actions else now,
        args={f"{call.key}:1": data for call, data in zip(stored_calls, args, strict=True)},
    )
    return review, make_event("submitted", review, now, (action.key for action in actions))


def _build_call(key: str, call: ToolCall, ruling: Ruling, route: Route, args_hash: str) -> Call:
    hidden = find_pointers(ruling, call.args)
    return Call(
        key=key,
        tool_call_id=call.id,
        name=call.name,
        args_hash=args_hash,
        verdict=ruling.verdict,
        route=route,
        idempotent=ruling.idempotent,
        redact=() if ruling.verdict.kind == "review" else hidden,
        hide_when_decided=ruling.hide_when_decided,
        hides_values=bool(hidden),
        reason=(call.reason or "").strip() or None,
    )


def _build_action(
    key: str, call: ToolCall, ruling: Ruling, route: Route, args_hash: str, now: float
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
            accepted_decisions=ruling.accepted_decisions,
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
            answer_by_agent=ruling.answer_by_agent,
            output=ruling.output,
            must_read=ruling.needs_reading,
            confirm=ruling.confirm,
            hide_when_decided=ruling.hide_when_decided,
            redact=ruling.redact,
            display=ruling.display,
        ),
        route=route,
        args_hash=args_hash,
    )


def requester_of(given: str | None) -> str | None:
    """The bare id of a mention (`<@U1>`) or an id with its workspace (`slack:T1/U1`), else what is given."""
    named = (given or "").strip()
    written = _MENTION.fullmatch(named) or _IN_TEAM.fullmatch(named)
    if written:
        return written[1]
    return named if USER_ID.fullmatch(named) else given


def check_requester(requester: str | None, rulings: Iterable[Ruling]) -> None:
    """Raises InvalidToolCall when the policy excludes the requester from approving, and `requester` is not
    the id of a chat user. If only the default of a quorum excludes the requester, a missing `requester` is
    accepted.
    """
    if names_person(requester):
        return
    asking = [ruling for ruling in rulings if ruling.verdict.kind == "review"]
    if any(ruling.needs_requester for ruling in asking) or (
        requester and any(ruling.route.reviewers.exclude_requester for ruling in asking)
    ):
        raise InvalidToolCall(
            "The policy doesn't let the requester approve, so `requester` must be the requester's user id in"
            " the chat, such as U0123ABCD or teams:GUID;"
            f" {f'it is {requester!r:.80}' if requester else 'it is missing'}."
            " If requesters are not users of the chat, set `exclude_requester: false` in the policy."
        )
