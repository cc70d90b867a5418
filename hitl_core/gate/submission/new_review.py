"""Build the new `Review` of judged calls: which turn it is about, who asked and where, and the calls.

It holds everything that is needed later. If the agent doesn't name its turns, they are counted in the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.gate.submission.calls import FrozenCalls, JudgedCalls
from hitl_core.model import (
    Action,
    ActionRequest,
    Call,
    Event,
    Place,
    Review,
    ReviewConfig,
    Route,
    ToolCall,
    encode,
    is_text,
)
from hitl_core.policy import USER_ID, Ruling, names_person
from hitl_core.review import Reviews, find_pointers, make_event
from hitl_core.store import choose_partition, make_review_id

#: A Slack conversation, and optionally a thread in it.
_ORIGIN_PATTERN = re.compile(r"slack:[CDG][A-Z0-9]{1,30}(?:/[0-9]{1,12}\.[0-9]{6})?")

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
        stored = _build_call(key, call, ruling, route, data.digest)
        if judged_calls.withholds_texts:
            stored = stored.model_copy(update={"hides_values": True})
        stored_calls.append(stored)
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
        hide_when_decided=ruling.hide_when_decided,
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
            answer_by_agent=ruling.answer_by_agent,
            output=ruling.output,
            must_read=ruling.needs_reading,
            confirm=ruling.confirm,
            hide_when_decided=ruling.hide_when_decided,
            redact=ruling.redact,
            display=ruling.display,
        ),
        route=route,
        digest=digest,
    )


class ReviewKey(NamedTuple):
    """Which turn of which agent a review is about, for which requester, and where that person asked."""

    agent: str
    thread_id: str
    turn: str
    requester: str | None
    origin: str | None = None


def review_id_for(key: ReviewKey, call_ids: Sequence[str], partitions: int) -> str:
    """The same id for the same turn, in any process."""
    partition = choose_partition(key.thread_id, partitions)
    return make_review_id(partition, key.agent, key.thread_id, key.turn, call_ids)


def check_review_key(key: ReviewKey) -> None:
    """Raises InvalidToolCall for a name that can't be stored."""
    words = ("agent", "thread_id", "turn", "requester", "origin")
    for word, name in zip(words, key, strict=True):
        if word in words[2:] and not name:
            continue
        if not isinstance(name, str) or not name or not is_text(name):
            raise InvalidToolCall(f"The {word} must be text, not {name!r:.80}.")


async def find_next_turn(reviews: Reviews, key: ReviewKey, call_ids: Sequence[str]) -> ReviewKey:
    """The first of the turns #1, #2, … that is not done. A galloping search, because a thread may have many.

    Raises StoreUnavailable.
    """
    partitions = reviews.store.partitions

    async def is_done(number: int) -> bool:
        id = review_id_for(key._replace(turn=f"#{number}"), call_ids, partitions)
        snapshot = await reviews.with_retry(partial(reviews.store.load_outline, id))
        return snapshot is not None and snapshot.review.status == "done"

    low, high = 0, 1
    while await is_done(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if await is_done(middle) else (low, middle)
    return await _find_open_turn(reviews, key, call_ids) or key._replace(turn=f"#{high}")


async def _find_open_turn(
    reviews: Reviews, key: ReviewKey, call_ids: Sequence[str]
) -> ReviewKey | None:
    """The open turn of these calls. Needed because the count restarts at #1 when early turns were deleted
    after their retention.
    """
    store = reviews.store
    for id in await reviews.with_retry(partial(store.thread_reviews, key.thread_id)):
        snapshot = await reviews.with_retry(partial(store.load_outline, id))
        if snapshot is None or snapshot.review.status == "done":
            return None  # live reviews come first
        candidate = key._replace(turn=snapshot.review.turn)
        if (
            candidate.turn.startswith("#")
            and review_id_for(candidate, call_ids, store.partitions) == id
        ):
            return candidate
    return None


def read_origin(origin: str | None) -> Place | None:
    """Raises InvalidToolCall for a text that is not a Slack conversation or thread."""
    if origin is None:
        return None
    if not _ORIGIN_PATTERN.fullmatch(origin):
        raise InvalidToolCall(
            "The origin must be a thread such as slack:C0123ABCD/1700000000.000100,"
            f" not {origin!r:.80}."
        )
    return Place(origin)


def requester_of(given: str | None) -> str | None:
    """The bare id of a mention (`<@U1>`) or an id with its workspace (`slack:T1/U1`), else what is given."""
    named = (given or "").strip()
    written = _MENTION.fullmatch(named) or _IN_TEAM.fullmatch(named)
    if written:
        return written[1]
    return named if USER_ID.fullmatch(named) else given


def check_requester(requester: str | None, rulings: Iterable[Ruling]) -> None:
    """Raises InvalidToolCall when the requester must not approve, and `requester` is no chat user's id: also
    when only a quorum's default excludes the requester, but not when there is no requester then.
    """
    if names_person(requester):
        return
    asking = [ruling for ruling in rulings if ruling.verdict.kind == "review"]
    if any(ruling.needs_requester for ruling in asking) or (
        requester and any(ruling.route.reviewers.exclude_requester for ruling in asking)
    ):
        raise InvalidToolCall(
            "The policy doesn't let the requester approve, so `requester` must be the requester's user id in"
            f" the chat, such as U0123ABCD; {f'it is {requester!r:.80}' if requester else 'it is missing'}."
            " If requesters are not users of the chat, set `exclude_requester: false` in the policy."
        )
