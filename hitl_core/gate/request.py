"""Tool calls and a policy become a review: everything frozen that anybody will ask later. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.model import (
    Action,
    ActionRequest,
    Call,
    Event,
    Review,
    ReviewConfig,
    ToolCall,
    encode,
)
from hitl_core.model.call import is_text
from hitl_core.policy import Ruling
from hitl_core.store.keys import partition_for, review_id

#: What one model turn may hold.
MAX_CALLS = 100


class Turn(NamedTuple):
    """Which turn of which agent a review is about."""

    agent: str
    thread_id: str
    name: str
    requester: str | None


def id_of(turn: Turn, call_ids: Sequence[str], partitions: int) -> str:
    """The same for the same turn, in any process."""
    partition = partition_for(turn.thread_id, partitions)
    return review_id(partition, turn.agent, turn.thread_id, turn.name, call_ids)


def frozen(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls with arguments of their own, so that what is judged is what is stored, whatever the agent
    does to its objects meanwhile. Raises InvalidToolCall, also for a turn whose answers could not be
    told apart.
    """
    calls = [ToolCall(call.id, call.name, encode(call.args).parse()) for call in calls]
    if not calls:
        raise InvalidToolCall("There is no tool call to review.")
    if len(calls) > MAX_CALLS:
        raise InvalidToolCall(f"A turn may have {MAX_CALLS} tool calls at most, not {len(calls)}.")
    ids = [call.id for call in calls]
    if twice := next((id for id in ids if ids.count(id) > 1), None):
        raise InvalidToolCall(f"Two calls of this turn have the id {twice!r}.")
    return calls


def check_turn(turn: Turn) -> None:
    """Raises InvalidToolCall for names that could not be stored."""
    for word, name in zip(("agent", "thread_id", "turn", "requester"), turn, strict=True):
        if word in ("turn", "requester") and not name:
            continue
        if not isinstance(name, str) or not name or not is_text(name):
            raise InvalidToolCall(f"The {word} must be text, not {name!r:.80}.")


def build(
    turn: Turn, calls: Sequence[ToolCall], rulings: Sequence[Ruling], partitions: int, now: float
) -> tuple[Review, Event]:
    """A review with its verdicts, at `now`. Settled at once where nobody has to be asked."""
    args = [encode(call.args) for call in calls]
    frozen: list[Call] = []
    actions: list[Action] = []
    for position, (call, ruling) in enumerate(zip(calls, rulings, strict=True), start=1):
        key, digest = str(position), args[position - 1].digest
        frozen.append(
            Call(
                key=key,
                tool_call_id=call.id,
                name=call.name,
                digest=digest,
                verdict=ruling.verdict,
                route=ruling.route,
                idempotent=ruling.idempotent,
            )
        )
        if ruling.verdict.kind == "review":
            actions.append(_action(key, call, ruling, digest, now))
    review = Review(
        id=id_of(turn, [call.id for call in calls], partitions),
        agent=turn.agent,
        thread_id=turn.thread_id,
        turn=turn.name,
        requester=turn.requester,
        created_at=now,
        calls=tuple(frozen),
        actions=tuple(actions),
        status="pending" if actions else "settled",
        settled_at=None if actions else now,
        args={f"{call.key}:1": data for call, data in zip(frozen, args, strict=True)},
    )
    return review, Event(kind="submitted", review_id=review.id, at=now)


def _action(key: str, call: ToolCall, ruling: Ruling, digest: str, now: float) -> Action:
    return Action(
        key=key,
        submitted_at=now,
        request=ActionRequest(tool_call_id=call.id, name=call.name, description=ruling.description),
        config=ReviewConfig(
            action_name=call.name,
            allowed_decisions=ruling.allowed_decisions,
            args_schema=ruling.args_schema,
            reject_reason=ruling.reject_reason,
        ),
        route=ruling.route,
        digest=digest,
    )
