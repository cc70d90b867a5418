"""Tool calls and a policy become a review: everything frozen that anybody will ask later. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model import (
    Action,
    ActionRequest,
    Call,
    DialectName,
    Event,
    Review,
    ReviewConfig,
    Target,
    ToolCall,
    encode,
)
from hitl_core.model.arguments import JsonObject
from hitl_core.model.call import is_text
from hitl_core.policy import Policy, Ruling
from hitl_core.store.keys import partition_for, review_id

#: What one model turn may hold.
MAX_CALLS = 100
#: And how many JSON values in all its arguments: each is looked at several times before anybody is asked.
MAX_VALUES = 100_000


class Request(NamedTuple):
    """The calls of one model turn, with everything that is said of them.

    `tools` are those that an edit may name. `path` names the agents that led here, the outermost first;
    `dialect` is the one whose texts the model gets; `policy` the digest of the policy that judged.
    """

    calls: Sequence[ToolCall]
    rulings: Sequence[Ruling]
    path: tuple[str, ...] = ()
    dialect: DialectName = "langchain"
    tools: Mapping[str, Target] = {}
    edit_notice: str | None = None
    policy: str | None = None


async def judged(
    policy: Policy,
    calls: Iterable[ToolCall],
    *,
    tools: Mapping[str, JsonObject | None] | None = None,
    state: object = None,
    path: Iterable[str] = (),
) -> Request:
    """What a policy says of a turn, once and for all. `tools` are the agent's own, by name, each with the
    JSON Schema of its arguments or None: where the policy has no schema theirs is enforced, and an edit may
    name another of them where the policy allows that one too. Raises InvalidToolCall.
    """
    calls, tools = frozen(calls), tools or {}
    rulings = [
        _with_schema(await policy.judged(call, state), tools.get(call.name)) for call in calls
    ]
    edits = any("edit" in ruling.allowed_decisions for ruling in rulings)
    return Request(
        calls,
        rulings,
        tuple(path),
        policy.dialect or "langchain",
        _targets(policy, tools) if edits else {},
        policy.edit_notice if edits else None,
        policy.digest,
    )


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
    calls = list(calls)
    if more_than(MAX_VALUES, [call.args for call in calls]):
        told = f"A turn may have {MAX_VALUES:,} values at most in its arguments."
        raise InvalidToolCall(told)
    calls = [ToolCall(call.id, call.name, _own(call.args)) for call in calls]
    if not calls:
        raise InvalidToolCall("There is no tool call to review.")
    if len(calls) > MAX_CALLS:
        raise InvalidToolCall(f"A turn may have {MAX_CALLS} tool calls at most, not {len(calls)}.")
    ids = [call.id for call in calls]
    if twice := next((id for id in ids if ids.count(id) > 1), None):
        raise InvalidToolCall(f"Two calls of this turn have the id {twice!r}.")
    return calls


def more_than(most: int, value: object) -> bool:
    """Whether this is more JSON values than so many. Counts no further, also in a list that holds itself."""
    return next(islice(_values(value), most, None), None) is not None


def check_turn(turn: Turn) -> None:
    """Raises InvalidToolCall for names that could not be stored."""
    for word, name in zip(("agent", "thread_id", "turn", "requester"), turn, strict=True):
        if word in ("turn", "requester") and not name:
            continue
        if not isinstance(name, str) or not name or not is_text(name):
            raise InvalidToolCall(f"The {word} must be text, not {name!r:.80}.")


def build(
    turn: Turn,
    calls: Sequence[ToolCall],
    rulings: Sequence[Ruling],
    partitions: int,
    now: float,
) -> tuple[Review, Event]:
    """`build_from`, for calls of which nothing else is known."""
    return build_from(turn, Request(calls, rulings), partitions, now)


def build_from(turn: Turn, request: Request, partitions: int, now: float) -> tuple[Review, Event]:
    """A review with its verdicts, at `now`. Settled at once where nobody has to be asked."""
    calls = request.calls
    args = [encode(call.args) for call in calls]
    digests = [each.digest for each in args]
    frozen: list[Call] = []
    actions: list[Action] = []
    each = zip(calls, request.rulings, digests, strict=True)
    for position, (call, ruling, digest) in enumerate(each, start=1):
        key = str(position)
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
        path=request.path,
        dialect=request.dialect,
        policy=request.policy,
        created_at=now,
        calls=tuple(frozen),
        actions=tuple(actions),
        tools=dict(request.tools),
        edit_notice=request.edit_notice,
        status="pending" if actions else "settled",
        settled_at=None if actions else now,
        args={f"{call.key}:1": data for call, data in zip(frozen, args, strict=True)},
    )
    event = Event(kind="submitted", review_id=review.id, at=now, what=request.policy)
    return review, event


def _values(value: object) -> Iterator[tuple[object]]:
    """Each value in it, the outermost first; in a tuple, since null is one too."""
    left = [value]
    while left:
        value = left.pop()
        yield (value,)
        if isinstance(value, dict):
            left.extend(cast(dict[str, Any], value).values())
        elif isinstance(value, list | tuple):
            left.extend(cast(Sequence[Any], value))


def _own(args: JsonObject) -> JsonObject:
    """A copy, in the model's order: descriptions show them so. Raises InvalidToolCall."""
    encode(args)
    return json.loads(json.dumps(args))


def _with_schema(ruling: Ruling, own: JsonObject | None) -> Ruling:
    if own is None or ruling.args_schema is not None or ruling.verdict.kind != "review":
        return ruling
    if flaw := _flaw_of(own):
        raise InvalidToolCall(f"A tool's own schema can't be used: {flaw}.")
    return replace(ruling, args_schema=own)


def _targets(policy: Policy, tools: Mapping[str, JsonObject | None]) -> dict[str, Target]:
    """Without those whose schema can't be used: no edit can be checked by it."""
    found: dict[str, Target] = {}
    for name, own in tools.items():
        target = policy.target(name)
        if own is None or target.args_schema is not None:
            found[name] = target
        elif _flaw_of(own) is None:
            found[name] = target.model_copy(update={"args_schema": own})
    return found


def _flaw_of(schema: JsonObject) -> str | None:
    """Why arguments can't be checked by this schema."""
    from hitl_core.forms import (
        SchemaError,
        check_schema,
    )  # with jsonschema, only where it is needed

    try:
        check_schema(schema)
    except SchemaError as error:
        return str(error)
    return None


def _action(key: str, call: ToolCall, ruling: Ruling, digest: str, now: float) -> Action:
    """Raises InvalidToolCall for a schema by which no card could be drawn: nobody would be asked."""
    if ruling.args_schema is not None and (flaw := _flaw_of(ruling.args_schema)):
        raise InvalidToolCall(
            f"This schema can't be used for the arguments of {call.name}: {flaw}."
        )
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
        ),
        config=ReviewConfig(
            action_name=call.name,
            allowed_decisions=ruling.allowed_decisions,
            args_schema=ruling.args_schema,
            reject_reason=ruling.reject_reason,
            answer_schema=ruling.answer_schema,
            output=ruling.output,
        ),
        route=ruling.route,
        digest=digest,
    )
