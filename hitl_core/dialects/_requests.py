"""Interrupts: what another system asks becomes a Request, and what a review asks is said in its words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from hitl_core.dialects._json import plain
from hitl_core.errors import DialectError, Unsayable
from hitl_core.gate import Request
from hitl_core.model import (
    DECISION_TYPES,
    Action,
    Arguments,
    DecisionType,
    DialectName,
    Output,
    Review,
    Route,
    ToolCall,
    Verdict,
    encode,
)
from hitl_core.model.arguments import JsonObject
from hitl_core.policy import Ruling
from hitl_core.policy.read import DESCRIPTION_PREFIX
from hitl_core.policy.wording import whole

#: Whose interrupts were written by JavaScript.
_JAVASCRIPT: frozenset[DialectName] = frozenset({"langchain_js", "xpertai", "arcgis"})
_ASKS = "The agent interrupts before this tool."
_FREE = "The agent does not interrupt before this tool."


class Asked(NamedTuple):
    """One action of an interrupt. `id` is the tool call's, None where the system doesn't tell it."""

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


def request_of(
    dialect: DialectName,
    asked: Sequence[Asked],
    thread_id: str,
    calls: Sequence[ToolCall],
    path: tuple[str, ...] = (),
) -> Request:
    """Raises DialectError where nothing could be decided, or the calls are not those of this interrupt."""
    for each in asked:
        _check(each)
    if calls:
        return _of_turn(dialect, asked, calls, path)
    made = [ToolCall(each.id, each.name, each.args) for each in _with_ids(asked, thread_id)]  # pyright: ignore[reportArgumentType] - they have
    return Request(
        made, [_ruling(dialect, a, c) for a, c in zip(asked, made, strict=True)], path, dialect
    )


def texts_of(review: Review, action: Action) -> str:
    """The description as the agent's own system words it."""
    request = action.request
    return request.description if request.text is None else request.text


def asked_args(review: Review, action: Action) -> JsonObject:
    """As the model made them, before any edit. Only for reading."""
    return review.arguments(action.key, 1).parse()


def allowed_words(
    dialect: DialectName, action: Action, words: tuple[DecisionType, ...]
) -> list[DecisionType]:
    """The decisions that may be taken and that the system knows. Raises Unsayable where none is left."""
    allowed = action.config.allowed_decisions
    found: list[DecisionType] = [kind for kind in allowed if kind in words]
    if not found:
        raise Unsayable(
            dialect,
            allowed[0],
            f"{dialect} has no word for {', '.join(allowed)}, all that may be decided on"
            f" {action.request.name}.",
        )
    return found


def sendable(wire: Any, dialect: DialectName) -> Any:
    """What goes to a system written in JavaScript. Raises Unsayable for a number that it would change."""
    try:
        return plain(wire, javascript=True)
    except DialectError as error:
        raise Unsayable(dialect, "value", str(error)) from error


def decision_types(value: Sequence[Any]) -> tuple[DecisionType, ...]:
    """Those of a list that we know, in its order, each once."""
    found: dict[DecisionType, None] = {}
    for word in value:
        found |= {kind: None for kind in DECISION_TYPES if kind == word}
    return tuple(found)


def _check(asked: Asked) -> None:
    if not asked.allowed:
        raise DialectError(f"No decision is allowed on {asked.name}, so nobody could ever decide.")
    if asked.args_schema is None:
        return
    from hitl_core.forms import SchemaError, check_schema  # only where a schema is checked

    try:
        check_schema(asked.args_schema)
    except SchemaError as error:
        raise DialectError(
            f"This schema can't be used for the arguments of {asked.name}: {error}."
        ) from error


def _with_ids(asked: Sequence[Asked], thread_id: str) -> list[Asked]:
    """The same interrupt of the same thread gets the same ids, so that it is the same review."""
    if all(each.id is not None for each in asked):
        return list(asked)
    said = json.dumps([thread_id, [(a.name, a.args, a.id) for a in asked]], sort_keys=True)
    digest = hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return [
        each if each.id is not None else each._replace(id=f"{digest}:{number}")
        for number, each in enumerate(asked, start=1)
    ]


def _of_turn(
    dialect: DialectName, asked: Sequence[Asked], calls: Sequence[ToolCall], path: tuple[str, ...]
) -> Request:
    waiting, rulings = list(asked), list[Ruling]()
    for call in calls:
        if waiting and _is_about(dialect, waiting[0], call):
            rulings.append(_ruling(dialect, waiting.pop(0), call))
        else:
            rulings.append(_free())
    if waiting:
        raise DialectError(
            f"The interrupt asks about {waiting[0].name}, which is no call of this turn."
        )
    return Request(calls, rulings, path, dialect)


def _is_about(dialect: DialectName, asked: Asked, call: ToolCall) -> bool:
    """By the bytes that would run: Python takes 10 for 10.0, and 1 for True."""
    if asked.name != call.name or asked.id not in (None, call.id):
        return False
    written = _in_javascript if dialect in _JAVASCRIPT else encode
    return written(asked.args) == written(call.args)


def _in_javascript(args: object) -> Arguments:
    """Where 10 and 10.0 are one number, and its JSON says 10."""

    def number(text: str) -> float:
        value = float(text)
        return int(value) if value.is_integer() else value

    return encode(json.loads(encode(args).data, parse_float=number))


def _free() -> Ruling:
    return Ruling(
        verdict=Verdict(kind="allow", rule=None, reason=_FREE),
        description=DESCRIPTION_PREFIX,
        allowed_decisions=(),
        args_schema=None,
        reject_reason="optional",
        route=Route(),
        idempotent=False,
        line=None,
    )


def _ruling(dialect: DialectName, asked: Asked, call: ToolCall) -> Ruling:
    """What the description repeats of name and arguments is left out: a card shows those better."""
    text = asked.description or ""
    tail = whole(dialect, "", call)
    description = (text.removesuffix(tail) if tail else text).strip() or DESCRIPTION_PREFIX
    return Ruling(
        verdict=Verdict(kind="review", rule=None, reason=_ASKS),
        description=description,
        text=None if text == description else text,
        allowed_decisions=asked.allowed,
        args_schema=asked.args_schema,
        answer_schema=asked.answer_schema,
        output=asked.output,
        reject_reason="optional",
        route=Route(),
        idempotent=False,
        line=None,
        title=asked.title,
        interrupt_id=asked.interrupt_id,
        extra=asked.extra,
        by_agent=True,
    )
