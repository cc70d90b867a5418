"""Translates interrupts: another system's interrupt into `JudgedCalls`, and a review into its interrupt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from hitl_core.dialects.parts.json import check_wire
from hitl_core.errors import DialectError, UnsupportedByDialect
from hitl_core.gate import JudgedCalls
from hitl_core.model import (
    DECISION_TYPES,
    Action,
    Arguments,
    DecisionType,
    DialectName,
    JsonObject,
    Output,
    Review,
    Route,
    ToolCall,
    Verdict,
    encode,
)
from hitl_core.policy import DESCRIPTION_PREFIX, Ruling, default_description

#: The systems that are written in JavaScript.
_JAVASCRIPT: frozenset[DialectName] = frozenset({"langchain_js", "xpertai", "arcgis"})
_INTERRUPT_REASON = "The agent interrupts before this tool."
_NO_INTERRUPT_REASON = "The agent does not interrupt before this tool."


class InterruptAction(NamedTuple):
    """One action of an interrupt. `id` is the tool call id; None if the system doesn't send it."""

    name: str
    args: Any
    description: str | None
    allowed: tuple[DecisionType, ...]
    id: str | None = None
    args_schema: JsonObject | None = None
    answer_schema: JsonObject | None = None
    output: Output | None = None
    title: str | None = None
    interrupt_id: str | None = None
    extra: JsonObject | None = None


def build_request(
    dialect: DialectName,
    actions: Sequence[InterruptAction],
    thread_id: str,
    calls: Sequence[ToolCall],
    path: tuple[str, ...] = (),
) -> JudgedCalls:
    """The calls that the interrupt asks about. Raises DialectError if an action has no allowed decision, or
    if the `calls` don't match the interrupt.
    """
    for each in actions:
        _check_action(each)
    if calls:
        return _build_turn_request(dialect, actions, calls, path)
    tool_calls = [ToolCall(each.id, each.name, each.args) for each in _add_ids(actions, thread_id)]  # pyright: ignore[reportArgumentType] - they have
    return JudgedCalls(
        tool_calls,
        [_review_ruling(dialect, a, c) for a, c in zip(actions, tool_calls, strict=True)],
        path,
        dialect,
    )


def dialect_description(review: Review, action: Action) -> str:
    """The description of the action in the agent's own system."""
    request = action.request
    return request.description if request.text is None else request.text


def original_args(review: Review, action: Action) -> JsonObject:
    """The arguments as the model made them, before any edit. Don't change them."""
    return review.arguments(action.key, 1).parse()


def common_decisions(
    dialect: DialectName, action: Action, words: tuple[DecisionType, ...]
) -> list[DecisionType]:
    """The allowed decisions that the system has. Raises UnsupportedByDialect if there is none."""
    allowed = action.config.allowed_decisions
    known: list[DecisionType] = [kind for kind in allowed if kind in words]
    if not known:
        raise UnsupportedByDialect(
            dialect,
            allowed[0],
            f"{dialect} can't receive {', '.join(allowed)}, the only decisions allowed on"
            f" {action.request.name}.",
        )
    return known


def ensure_sendable(wire: Any, dialect: DialectName) -> Any:
    """The same value, for a system in JavaScript. Raises UnsupportedByDialect for a number that JavaScript
    can't hold exactly.
    """
    try:
        return check_wire(wire, javascript=True)
    except DialectError as error:
        raise UnsupportedByDialect(dialect, "value", str(error)) from error


def parse_decision_types(value: Sequence[Any]) -> tuple[DecisionType, ...]:
    """The decision types in this list, in its order, each once. Others are left out."""
    types: dict[DecisionType, None] = {}
    for word in value:
        types |= {kind: None for kind in DECISION_TYPES if kind == word}
    return tuple(types)


def _check_action(action: InterruptAction) -> None:
    if not action.allowed:
        raise DialectError(f"No decision is allowed on {action.name}, so nobody could decide it.")
    if action.args_schema is None:
        return
    from hitl_core.jsonschema import SchemaError, check_schema  # imported only when needed

    try:
        check_schema(action.args_schema)
    except SchemaError as error:
        raise DialectError(
            f"This schema can't be used for the arguments of {action.name}: {error}."
        ) from error


def _add_ids(actions: Sequence[InterruptAction], thread_id: str) -> list[InterruptAction]:
    """The actions, each with an id. The same interrupt in the same thread gets the same ids, so it becomes
    the same review.
    """
    if all(each.id is not None for each in actions):
        return list(actions)
    text = json.dumps([thread_id, [(a.name, a.args, a.id) for a in actions]], sort_keys=True)
    hashed = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return [
        each if each.id is not None else each._replace(id=f"{hashed}:{number}")
        for number, each in enumerate(actions, start=1)
    ]


def _build_turn_request(
    dialect: DialectName,
    actions: Sequence[InterruptAction],
    calls: Sequence[ToolCall],
    path: tuple[str, ...],
) -> JudgedCalls:
    waiting, rulings = list(actions), list[Ruling]()
    for call in calls:
        if waiting and _is_about(dialect, waiting[0], call):
            rulings.append(_review_ruling(dialect, waiting.pop(0), call))
        else:
            rulings.append(_allow_ruling())
    if waiting:
        raise DialectError(
            f"The interrupt asks about {waiting[0].name}, which is not a call of this turn."
        )
    return JudgedCalls(calls, rulings, path, dialect)


def _is_about(dialect: DialectName, action: InterruptAction, call: ToolCall) -> bool:
    """Whether the action is about this call. It compares the encoded arguments, because in Python 10 equals
    10.0, and 1 equals True.
    """
    if action.name != call.name or action.id not in (None, call.id):
        return False
    encode_args = _encode_javascript if dialect in _JAVASCRIPT else encode
    return encode_args(action.args) == encode_args(call.args)


def _encode_javascript(args: object) -> Arguments:
    """Encodes like JavaScript, where 10 and 10.0 are the same number, written as 10."""

    def number(text: str) -> float:
        value = float(text)
        return int(value) if value.is_integer() else value

    return encode(json.loads(encode(args).data, parse_float=number))


def _allow_ruling() -> Ruling:
    return Ruling(
        verdict=Verdict(kind="allow", rule=None, reason=_NO_INTERRUPT_REASON),
        description=DESCRIPTION_PREFIX,
        allowed_decisions=(),
        args_schema=None,
        reject_reason="optional",
        route=Route(),
        idempotent=False,
        line=None,
    )


def _review_ruling(dialect: DialectName, action: InterruptAction, call: ToolCall) -> Ruling:
    """The ruling of an action. Its description has no copy of the call, because a card shows the call
    better.
    """
    text = action.description or ""
    tail = default_description(dialect, "", call)
    description = (text.removesuffix(tail) if tail else text).strip() or DESCRIPTION_PREFIX
    return Ruling(
        verdict=Verdict(kind="review", rule=None, reason=_INTERRUPT_REASON),
        description=description,
        text=None if text == description else text,
        allowed_decisions=action.allowed,
        args_schema=action.args_schema,
        answer_schema=action.answer_schema,
        output=action.output,
        reject_reason="optional",
        route=Route(),
        idempotent=False,
        line=None,
        title=action.title,
        interrupt_id=action.interrupt_id,
        extra=action.extra,
        by_agent=True,
    )
