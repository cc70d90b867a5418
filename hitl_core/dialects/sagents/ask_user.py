"""Sagents' questions to a person: the interrupt of its tool `ask_user`, and the answer to it.

https://hexdocs.pm/sagents/Sagents.Middleware.AskUserQuestion.html
"""

from __future__ import annotations

from typing import Any, Literal, cast

from hitl_core.dialects.parts import (
    FinalDecision,
    InterruptAction,
    Json,
    dialect_description,
    interrupt_decisions,
    is_object,
    list_options,
    one_of,
    original_args,
    read_envelope,
    read_list,
    read_optional_text,
)
from hitl_core.errors import DialectError
from hitl_core.model import Action, Review

Kind = Literal["single_select", "multi_select", "freeform"]
KINDS: tuple[Kind, ...] = ("single_select", "multi_select", "freeform")
TOOL = "ask_user"
TYPE = "ask_user_question"
#: Selected when the answer is not one of the options. Then the answer is in `other_text`.
_OTHER = "other"


def is_question(action: Action) -> bool:
    """Whether the action is a question. This follows from the type of its interrupt; without an interrupt,
    from its decisions (a question can only be answered or cancelled).
    """
    if type := (action.request.extra or {}).get("type"):
        return type == TYPE
    allowed = interrupt_decisions(action)
    return "respond" in allowed and {*allowed} <= {"respond", "ignore"}


def load_question(wire: Json) -> InterruptAction:
    """Raises DialectError."""
    text, context = wire.get("question"), wire.get("context")
    kind, options = wire.get("response_type"), read_list(wire.get("options") or [], "`options`")
    if not isinstance(text, str) or not text:
        raise DialectError("An `ask_user_question` needs its `question`.")
    if kind not in KINDS:
        raise DialectError(f"The `response_type` of a question must be one of {', '.join(KINDS)}.")
    read = [read_envelope(option, "An option") for option in options]
    values = [option.get("value") for option in read]
    if not all(isinstance(value, str) and value for value in values) or (
        bool(values) is (kind == "freeform")
    ):
        raise DialectError(
            f"The `options` don't fit a question of the kind {kind}: each option needs a `value`, and a"
            " freeform question has no options."
        )
    keys = ("question", "response_type", "options", "allow_other", "allow_cancel", "context")
    context_text = read_optional_text(context, "`context`")
    return InterruptAction(
        name=TOOL,
        args={key: wire[key] for key in keys if wire.get(key) is not None},
        description=f"{text}\n\n{context_text}" if context_text else text,
        allowed=("respond", "ignore") if wire.get("allow_cancel") is not False else ("respond",),
        id=read_optional_text(wire.get("tool_call_id"), "`tool_call_id`"),
        # If an option is called `other`, selecting `other` means only that option.
        answer_schema=_make_schema(
            kind, read, wire.get("allow_other") is True and _OTHER not in values
        ),
        extra={"type": TYPE},
    )


def dump_question(review: Review, action: Action) -> Json:
    """The interrupt of a question. The question is in the arguments of the tool `ask_user`; for any other
    tool it is made from the description and the answer schema.
    """
    args = original_args(review, action)
    values = _list_options(action)
    default_question: Json = {
        "question": dialect_description(review, action),
        "response_type": _kind(action),
        "options": [{"label": str(value), "value": value} for value in values],
        "allow_other": _accepts_other(action),
        "context": None,
    }
    own = is_object(args, "question", "response_type")
    return {
        "type": TYPE,
        **default_question,
        **(args if own else {}),
        "allow_cancel": "ignore" in interrupt_decisions(action),
        "tool_call_id": action.request.tool_call_id,
    }


def dump_answer(action: Action, final: FinalDecision) -> Json | None:
    """The answer for Sagents; None if Sagents can't express this decision. A value that is not one of the
    options is sent as `other`, if the question allows that. Only a person may select an option: a deadline
    can only send its own text, or cancel.
    """
    allowed = interrupt_decisions(action)
    if final.kind in ("reject", "ignore"):
        return {"type": "cancel"} if "ignore" in allowed else None
    if final.kind != "respond" or "respond" not in allowed:
        return None
    value = final.message if final.answer is None else final.answer
    kind = _kind(action)
    if kind == "freeform":
        fits = isinstance(value, str) and value
        return {"type": "answer", "other_text": value} if fits else None
    given = cast(list[Any], value) if isinstance(value, list) else [value]
    options = _list_options(action)
    others = [each for each in given if each not in options]
    selected = [each for each in given if each in options]
    if not given or (others and not _accepts_other(action)) or (selected and not final.by_person):
        return None
    answer: Json = {"type": "answer", "selected": [*selected, _OTHER] if others else selected}
    if others:
        answer["other_text"] = ", ".join(map(str, others))
    elif isinstance(value, str) and final.message not in (None, value):
        answer["other_text"] = final.message
    return answer


def _make_schema(kind: Kind, options: list[Json], others: bool) -> Json:
    text: Json = {"type": "string", "minLength": 1}
    if kind == "freeform":
        return text
    values = [option["value"] for option in options]
    one: Json = {**text, "examples": values} if others else one_of(options)
    return one if kind == "single_select" else {"type": "array", "items": one, "minItems": 1}


def _selection_schema(action: Action) -> Json:
    """The schema of one selection."""
    schema = action.config.answer_schema or {}
    items: Any = schema.get("items", schema)
    return cast(Json, items) if isinstance(items, dict) else {}


def _list_options(action: Action) -> list[Any]:
    selection = _selection_schema(action)
    values: Any = selection.get("examples") or list_options(selection)
    return cast(list[Any], values) if isinstance(values, list) else []


def _accepts_other(action: Action) -> bool:
    return not list_options(_selection_schema(action)) and _OTHER not in _list_options(action)


def _kind(action: Action) -> Kind:
    if (action.config.answer_schema or {}).get("type") == "array":
        return "multi_select"
    return "single_select" if _list_options(action) else "freeform"
