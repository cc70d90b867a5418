"""Finds a dialect: by its name, or from an interrupt or an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hitl_core.dialects import (
    agent_inbox,
    arcgis,
    langchain,
    langchain_js,
    langchain_per_call,
    sagents,
)
from hitl_core.dialects.base import Dialect, Wire
from hitl_core.dialects.parts import check_wire, is_object, read_envelope
from hitl_core.errors import DialectError
from hitl_core.model import DIALECTS, DialectName

_ALL: dict[str, Dialect] = {
    each.name: each
    for each in (
        langchain.dialect,
        langchain_per_call.dialect,
        langchain_js.dialect,
        langchain_js.xpertai,
        sagents.dialect,
        agent_inbox.dialect,
        arcgis.dialect,
    )
}


def get(name: str) -> Dialect:
    """Raises DialectError for an unknown name."""
    dialect = _ALL.get(name)
    if dialect is None:
        raise DialectError(f"There is no dialect {name!r:.80}: use one of {', '.join(DIALECTS)}.")
    return dialect


def split(wire: Wire) -> list[Wire]:
    """The single interrupts of a combined one, for a review of each. Only Sagents combines interrupts."""
    if is_object(wire) and wire.get("type") == "multiple_interrupts":
        inner = read_envelope(check_wire(wire), "The interrupt").get("interrupts")
        if isinstance(inner, list) and inner:
            return [part for each in cast(list[Any], inner) for part in split(each)]
        raise DialectError(
            "A `multiple_interrupts` needs a list `interrupts` with at least one entry."
        )
    return [wire]


def detect(wire: Wire) -> DialectName:
    """The dialect of this interrupt or answer. Some values look the same in several dialects: XpertAI's are
    detected as LangChain for JavaScript, and a LangChain answer without an edit as LangChain for Python.
    Raises DialectError.
    """
    value = check_wire(wire)
    name = _interrupt_dialect(value) or _answer_dialect(value)
    if name is None and arcgis.is_partial(value):
        raise DialectError(
            "This looks like a part of an ArcGIS UiInterrupt, which can't be answered: it needs its `id`,"
            " `agentId` and `kind`, which ArcGIS adds to the result of an `interrupt` function."
        )
    if name is None:
        raise DialectError("This is not an interrupt or an answer of a supported system.")
    return name


def is_interrupt(wire: Wire) -> bool:
    """Whether this is an interrupt, not an answer, of a known dialect."""
    try:
        return _interrupt_dialect(check_wire(wire)) is not None
    except DialectError:
        return False


def _interrupt_dialect(wire: Any) -> DialectName | None:
    if agent_inbox.find_interrupts(wire) is not None:
        return "agent_inbox"
    first = next(iter(_items(wire)), wire)
    if not is_object(first):
        return None
    if _is_approval(first) or _is_approval(first.get("value")):
        return "langchain_per_call"
    if is_object(first, "id", "agentId", "kind"):
        return "arcgis"
    return _turn_dialect(wire) if is_object(wire) else None


def _turn_dialect(wire: dict[str, Any]) -> DialectName | None:
    """The dialect of an interrupt that asks about a whole turn."""
    if wire.get("type") in ("subagent_hitl", "multiple_interrupts", "ask_user_question"):
        return "sagents"
    if is_object(wire, "actionRequests", "reviewConfigs"):
        return "langchain_js"
    if not sagents.is_approval(wire):
        return None
    if "hitl_tool_call_ids" in wire or any(
        is_object(each, "tool_name") for each in wire["action_requests"]
    ):
        return "sagents"
    return "langchain" if isinstance(wire.get("review_configs"), list) else None


def _answer_dialect(wire: Any) -> DialectName | None:
    if is_object(wire, "id", "agentId", "payload"):
        return "arcgis"
    if is_object(wire, "decisions"):
        camel = any(is_object(each, "editedAction") for each in _items(wire["decisions"]))
        return "langchain_js" if camel else "langchain"
    if decisions := _items(wire):
        return _list_dialect(decisions)
    if is_object(wire, "type"):
        return _decision_dialect(wire)
    if is_object(wire) and wire and all(is_object(each, "type") for each in wire.values()):
        return "langchain_per_call"
    if is_object(wire) and len(wire) == 1:
        return _answer_dialect(next(iter(wire.values())))
    return None


def _list_dialect(answers: Sequence[Any]) -> DialectName | None:
    if all(is_object(each, "id", "agentId", "payload") for each in answers):
        return "arcgis"
    if all(is_object(each, "type") for each in answers):
        return "agent_inbox" if any(_is_response(each) for each in answers) else "sagents"
    # The answer to several interrupts at once: a list of decisions for each, or the answer to a question.
    several = all(is_object(each, "type") or _are_decisions(each) for each in answers)
    return "sagents" if several else None


def _decision_dialect(decision: dict[str, Any]) -> DialectName | None:
    if _is_response(decision):
        return "agent_inbox"
    if decision["type"] in ("answer", "cancel"):
        return "sagents"
    known = decision["type"] in ("approve", "edit", "reject", "respond")
    return "langchain_per_call" if known else None


def _is_response(decision: dict[str, Any]) -> bool:
    """Whether its type exists only in Agent Inbox, or it is an `edit` with an ActionRequest."""
    if decision["type"] in ("accept", "ignore", "response"):
        return True
    return decision["type"] == "edit" and is_object(decision.get("args"), "action")


def _is_approval(value: object) -> bool:
    return is_object(value) and value.get("type") == "tool_approval"


def _are_decisions(value: object) -> bool:
    return bool(items := _items(value)) and all(is_object(each, "type") for each in items)


def _items(value: object) -> Sequence[Any]:
    return cast(list[Any], value) if isinstance(value, list) else ()
