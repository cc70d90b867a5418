"""The question of an interrupt: its kind, its options, and the payload that answers it."""

from __future__ import annotations

from typing import Any, Literal, assert_never, cast

from hitl_core.dialects.parts import (
    FinalDecision,
    Json,
    interrupt_decisions,
    list_options,
)
from hitl_core.errors import UnsupportedByDialect
from hitl_core.model import Action
from hitl_core.policy import to_javascript

Kind = Literal["booleanChoice", "multipleSelection", "singleSelection", "textInput"]
KINDS: tuple[Kind, ...] = ("booleanChoice", "multipleSelection", "singleSelection", "textInput")


def kind_of(action: Action) -> Kind:
    """The kind in its interrupt; without an interrupt, the kind that fits the allowed decisions."""
    for kind in KINDS:
        if kind == (action.request.extra or {}).get("kind"):
            return kind
    allowed, schema = interrupt_decisions(action), action.config.answer_schema or {}
    if schema.get("type") == "array":
        return "multipleSelection"
    if options_of(action):
        return "singleSelection"
    if schema.get("type") == "string":
        return "textInput"
    if "approve" in allowed or "reject" in allowed or schema.get("type") == "boolean":
        return "booleanChoice"
    if "respond" in allowed:
        return "textInput"
    raise UnsupportedByDialect(
        "arcgis",
        allowed[0],
        f"arcgis has no kind of question for {', '.join(allowed)} on {action.request.name}.",
    )


def options_of(action: Action) -> list[Any]:
    schema = action.config.answer_schema or {}
    items: Any = schema.get("items", schema)
    return list_options(cast(Json, items)) if isinstance(items, dict) else []


def make_payload(action: Action, final: FinalDecision) -> Any:
    """The payload for this decision; None if there is none."""
    allowed, kind = interrupt_decisions(action), kind_of(action)
    if final.kind in ("reject", "ignore"):
        return False if kind == "booleanChoice" and "reject" in allowed else None
    if final.kind == "edit" or final.kind not in allowed or not final.by_person:
        return None
    if final.kind == "approve" and kind == "booleanChoice":
        return (
            True
            if final.answer is None or (action.request.extra or {}).get("kind")
            else final.answer
        )
    given = final.message if final.answer is None else final.answer
    return given if _is_valid(kind, options_of(action), given) else None


def _is_valid(kind: Kind, options: list[Any], given: Any) -> bool:
    """Compares both as JSON text, because in Python 1 equals True."""

    def is_option(value: Any) -> bool:
        known = [to_javascript(option, 0) for option in options]
        return to_javascript(value, 0) in known if options else isinstance(value, str)

    match kind:
        case "booleanChoice":
            return isinstance(given, bool)
        case "multipleSelection":
            return isinstance(given, list) and all(map(is_option, cast(list[Any], given)))
        case "singleSelection":
            return is_option(given)
        case "textInput":
            return isinstance(given, str)
    assert_never(kind)
