"""Wire formats: whoever has a policy or an agent of another system keeps both. See `base.Dialect`."""

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
    xpertai,
)
from hitl_core.dialects._json import envelope, is_mapping, plain
from hitl_core.dialects.base import Dialect, Wire
from hitl_core.errors import DialectError
from hitl_core.model import DIALECTS, DialectName

_ALL: dict[str, Dialect] = {
    each.name: each
    for each in (
        langchain.dialect,
        langchain_per_call.dialect,
        langchain_js.dialect,
        xpertai.dialect,
        sagents.dialect,
        agent_inbox.dialect,
        arcgis.dialect,
    )
}
names = DIALECTS


def get(name: str) -> Dialect:
    """Raises DialectError for a name that none has."""
    found = _ALL.get(name)
    if found is None:
        raise DialectError(f"There is no dialect {name!r:.80}: {', '.join(names)}.")
    return found


def split(wire: Wire) -> list[Wire]:
    """Sagents puts several interrupts into one: each becomes a review of its own. Others are one already."""
    if is_mapping(wire) and wire.get("type") == "multiple_interrupts":
        inner = envelope(plain(wire), "The interrupt").get("interrupts")
        if isinstance(inner, list) and inner:
            return [part for each in cast(list[Any], inner) for part in split(each)]
        raise DialectError("`multiple_interrupts` holds a list of them.")
    return [wire]


def detect(wire: Wire) -> DialectName:
    """Whose interrupt or answer this is. LangChain for JavaScript stands for XpertAI as well, which writes
    the same; an answer of LangChain without an edit is the same in both of its languages, and counts as
    Python's. Raises DialectError.
    """
    found = plain(wire)
    name = _interrupt(found) or _answer(found)
    if name is None and arcgis.is_partial(found):
        raise DialectError(
            "This may be a part of a UiInterrupt of ArcGIS, and nobody could answer it: it needs its `id`,"
            " `agentId` and `kind`, which ArcGIS adds to what an `interrupt` function makes."
        )
    if name is None:
        raise DialectError("This is no interrupt and no answer of a system that we know.")
    return name


def is_interrupt(wire: Wire) -> bool:
    """Whether `detect` knows this as somebody's interrupt; no answer is one."""
    try:
        return _interrupt(plain(wire)) is not None
    except DialectError:
        return False


def _interrupt(wire: Any) -> DialectName | None:
    if agent_inbox.interrupts_in(wire) is not None:
        return "agent_inbox"
    first = next(iter(_items(wire)), wire)
    if not is_mapping(first):
        return None
    if _is_approval(first) or _is_approval(first.get("value")):
        return "langchain_per_call"
    if is_mapping(first, "id", "agentId", "kind"):
        return "arcgis"
    return _turn(wire) if is_mapping(wire) else None


def _turn(wire: dict[str, Any]) -> DialectName | None:
    """The interrupts that ask about a whole turn."""
    if wire.get("type") in ("subagent_hitl", "multiple_interrupts", "ask_user_question"):
        return "sagents"
    if is_mapping(wire, "actionRequests", "reviewConfigs"):
        return "langchain_js"
    if not sagents.claims(wire):
        return None
    if "hitl_tool_call_ids" in wire or any(
        is_mapping(each, "tool_name") for each in wire["action_requests"]
    ):
        return "sagents"
    return "langchain" if isinstance(wire.get("review_configs"), list) else None


def _answer(wire: Any) -> DialectName | None:
    if is_mapping(wire, "id", "agentId", "payload"):
        return "arcgis"
    if is_mapping(wire, "decisions"):
        camel = any(is_mapping(each, "editedAction") for each in _items(wire["decisions"]))
        return "langchain_js" if camel else "langchain"
    if decisions := _items(wire):
        return _of_list(decisions)
    if is_mapping(wire, "type"):
        return _of_bare(wire)
    if is_mapping(wire) and wire and all(is_mapping(each, "type") for each in wire.values()):
        return "langchain_per_call"
    if is_mapping(wire) and len(wire) == 1:
        return _answer(next(iter(wire.values())))
    return None


def _of_list(answers: Sequence[Any]) -> DialectName | None:
    if all(is_mapping(each, "id", "agentId", "payload") for each in answers):
        return "arcgis"
    if all(is_mapping(each, "type") for each in answers):
        return "agent_inbox" if any(_is_response(each) for each in answers) else "sagents"
    # Of several interrupts at once: a list of decisions for each, or a question's answer.
    several = all(is_mapping(each, "type") or _are_decisions(each) for each in answers)
    return "sagents" if several else None


def _of_bare(decision: dict[str, Any]) -> DialectName | None:
    if _is_response(decision):
        return "agent_inbox"
    if decision["type"] in ("answer", "cancel"):
        return "sagents"
    known = decision["type"] in ("approve", "edit", "reject", "respond")
    return "langchain_per_call" if known else None


def _is_response(decision: dict[str, Any]) -> bool:
    """Agent Inbox's own words; an `edit` is one where it carries an ActionRequest."""
    if decision["type"] in ("accept", "ignore", "response"):
        return True
    return decision["type"] == "edit" and is_mapping(decision.get("args"), "action")


def _is_approval(value: object) -> bool:
    return is_mapping(value) and value.get("type") == "tool_approval"


def _are_decisions(value: object) -> bool:
    return bool(found := _items(value)) and all(is_mapping(each, "type") for each in found)


def _items(value: object) -> Sequence[Any]:
    return cast(list[Any], value) if isinstance(value, list) else ()


__all__ = ["Dialect", "Wire", "detect", "get", "is_interrupt", "names", "split"]
