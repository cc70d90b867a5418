"""Finds what the agent's own system can't receive after an edit. Pure.

An agent that asks by an interrupt acts on the answer itself, and its system has no word for some decisions. A
policy that needs such a word is refused at submission (`limit_decisions` in `hitl_core/dialects`). After an
edit another rule may apply, so it is checked again here.
"""

from __future__ import annotations

from typing import Any, cast

from hitl_core.errors import DecisionError, Refused
from hitl_core.jsonschema import to_pointer
from hitl_core.model import (
    MAX_SAFE,
    Action,
    DecisionType,
    DialectName,
    Expire,
    JsonObject,
    Review,
)
from hitl_core.policy import Ruling

#: The decisions that mean no. A system that has one of them can receive both.
_NO: frozenset[DecisionType] = frozenset({"reject", "ignore"})
#: The systems that read answers in JavaScript.
_JAVASCRIPT: frozenset[DialectName] = frozenset(
    {"langchain_js", "xpertai", "agent_inbox", "arcgis"}
)


def check_words(action: Action, name: str, ruling: Ruling, expire: Expire | None) -> None:
    """Raises Refused if the system has no word for a decision that the edited call can get: the one at the
    deadline, or a no that the rule allows.
    """
    accepted = action.request.accepted_decisions
    if not accepted:  # no other system acts on the answer
        return
    can = {*accepted, *(() if _NO.isdisjoint(accepted) else _NO)}
    if expire is not None and expire.decision not in can:
        what = f"would {expire.decision} this {name} at its deadline"
    elif ruling.verdict.rule is not None and _NO & {*ruling.allowed_decisions} and not _NO & can:
        what = f"lets people reject this {name}"
    else:
        return
    raise Refused(
        "not_allowed", f"The policy {what}, but the agent's own system can't receive that answer."
    )


def check_numbers(review: Review, action: Action, args: JsonObject) -> None:
    """Raises DecisionError for a whole number that the system would change."""
    if not action.request.accepted_decisions or review.dialect not in _JAVASCRIPT:
        return
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), args)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            waiting.extend(((*path, key), each) for key, each in entries.items())
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            waiting.extend(((*path, index), each) for index, each in enumerate(items))
        elif isinstance(value, int) and abs(value) > MAX_SAFE:
            where = to_pointer(path)
            text = f"{where}: the agent's own system can't hold a whole number beyond 2^53 exactly."
            raise DecisionError(text, field=where, code="invalid_args")
