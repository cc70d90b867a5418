"""Tool calls and a policy become a review: everything frozen that anybody will ask later. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.gate import origin
from hitl_core.gate.calls import MAX_CALLS, MAX_VALUES, frozen, more_than
from hitl_core.model import (
    Action,
    ActionRequest,
    Call,
    DialectName,
    Event,
    Place,
    Review,
    ReviewConfig,
    Route,
    Target,
    ToolCall,
    encode,
)
from hitl_core.model.arguments import JsonObject
from hitl_core.model.call import is_text
from hitl_core.policy import Policy, Ruling
from hitl_core.review.changed import event_of
from hitl_core.store.keys import partition_for, review_id

__all__ = [
    "MAX_CALLS",
    "MAX_VALUES",
    "Request",
    "Turn",
    "build",
    "build_from",
    "check_turn",
    "checked",
    "flaw_of",
    "frozen",
    "id_of",
    "judged",
    "more_than",
    "targets",
    "with_schema",
]


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
        with_schema(await policy.judged(call, state), tools.get(call.name)) for call in calls
    ]
    edits = any("edit" in ruling.allowed_decisions for ruling in rulings)
    return Request(
        calls,
        rulings,
        tuple(path),
        policy.dialect or "langchain",
        targets(policy, tools) if edits else {},
        policy.edit_notice if edits else None,
        policy.digest,
    )


def checked(asked: Request) -> Request:
    """One that an integration made: what `judged` sees to by itself. Raises InvalidToolCall, also for a
    schema by which no card could be drawn: nobody would be asked.
    """
    asked = asked._replace(calls=frozen(asked.calls))
    for call, ruling in zip(asked.calls, asked.rulings, strict=True):
        if ruling.args_schema is not None and (flaw := flaw_of(ruling.args_schema)):
            raise InvalidToolCall(
                f"This schema can't be used for the arguments of {call.name}: {flaw}."
            )
    return asked


def with_schema(ruling: Ruling, own: JsonObject | None) -> Ruling:
    """With the tool's own schema where there is none. Raises InvalidToolCall for one that can't be used."""
    if own is None or ruling.args_schema is not None or ruling.verdict.kind != "review":
        return ruling
    if flaw := flaw_of(own):
        raise InvalidToolCall(f"A tool's own schema can't be used: {flaw}.")
    return replace(ruling, args_schema=own)


def targets(policy: Policy, tools: Mapping[str, JsonObject | None]) -> dict[str, Target]:
    """What an edit may name. Without tools whose schema can't be used: no edit can be checked by it."""
    found: dict[str, Target] = {}
    for name, own in tools.items():
        target = policy.target(name)
        if own is None or target.args_schema is not None:
            found[name] = target
        elif flaw_of(own) is None:
            found[name] = target.model_copy(update={"args_schema": own})
    return found


def flaw_of(schema: JsonObject) -> str | None:
    """Why arguments can't be checked by this schema. Each is looked at once, however often it comes."""
    try:
        return _flaw_in(json.dumps(schema, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "it is not plain JSON"


@lru_cache(maxsize=1024)
def _flaw_in(schema: str) -> str | None:
    from hitl_core.forms import SchemaError, check_schema  # with jsonschema

    try:
        check_schema(json.loads(schema))
    except SchemaError as error:
        return str(error)
    return None


class Turn(NamedTuple):
    """Which turn of which agent a review is about, on whose behalf, and where that person asked."""

    agent: str
    thread_id: str
    name: str
    requester: str | None
    origin: Place | None = None


def id_of(turn: Turn, call_ids: Sequence[str], partitions: int) -> str:
    """The same for the same turn, in any process."""
    partition = partition_for(turn.thread_id, partitions)
    return review_id(partition, turn.agent, turn.thread_id, turn.name, call_ids)


def check_turn(turn: Turn) -> None:
    """Raises InvalidToolCall for names that could not be stored."""
    words = ("agent", "thread_id", "turn", "requester", "origin")
    for word, name in zip(words, turn, strict=True):
        if word in words[2:] and not name:
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
    """A review with its verdicts, at `now`. Settled at once where nobody has to be asked. Raises
    InvalidToolCall for an origin that is none, and where it has to be known who the requester is.
    """
    origin.check_origin(turn.origin)
    origin.check_requester(turn.requester, request.rulings)
    calls = request.calls
    args = [encode(call.args) for call in calls]
    digests = [each.digest for each in args]
    frozen: list[Call] = []
    actions: list[Action] = []
    each = zip(calls, request.rulings, digests, strict=True)
    for position, (call, ruling, digest) in enumerate(each, start=1):
        key, route = str(position), origin.settled(ruling.route, turn.origin)
        frozen.append(
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
        calls=tuple(frozen),
        actions=tuple(actions),
        tools={name: _placed(tool, turn.origin) for name, tool in request.tools.items()},
        edit_notice=request.edit_notice,
        status="pending" if actions else "settled",
        settled_at=None if actions else now,
        args={f"{call.key}:1": data for call, data in zip(frozen, args, strict=True)},
    )
    event = event_of("submitted", review, now, (action.key for action in actions))
    return review, event.model_copy(update={"before": None})


def _placed(tool: Target, place: Place | None) -> Target:
    return tool.model_copy(update={"notify": origin.places(tool.notify, place)})


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
        ),
        config=ReviewConfig(
            action_name=call.name,
            allowed_decisions=ruling.allowed_decisions,
            args_schema=ruling.args_schema,
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
