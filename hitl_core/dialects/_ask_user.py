"""Sagents' questions to a person: what its tool `ask_user` interrupts with, and what that is answered with.

https://hexdocs.pm/sagents/Sagents.Middleware.AskUserQuestion.html
"""

from __future__ import annotations

from typing import Any, Literal, cast

from hitl_core.dialects._arcgis_config import one_of, options_in
from hitl_core.dialects._decisions import Ending, Place, takes
from hitl_core.dialects._json import Json, envelope, is_mapping, listing, optional_text
from hitl_core.dialects._requests import Asked, asked_args, texts_of
from hitl_core.errors import DialectError
from hitl_core.model import Action, Review
from hitl_core.review.proposal import Proposal

Kind = Literal["single_select", "multi_select", "freeform"]
KINDS: tuple[Kind, ...] = ("single_select", "multi_select", "freeform")
TOOL = "ask_user"
TYPE = "ask_user_question"
#: What a person selects whose answer is none of the options, and stands in `other_text`.
_OTHER = "other"


def is_question(action: Action) -> bool:
    """By the type of its interrupt. Where none asked, by what may be decided: a question is answered, or
    cancelled, and nothing runs.
    """
    if type := (action.request.extra or {}).get("type"):
        return type == TYPE
    allowed = takes(action)
    return "respond" in allowed and {*allowed} <= {"respond", "ignore"}


def asked_of(wire: Json) -> Asked:
    """Raises DialectError."""
    text, context = wire.get("question"), wire.get("context")
    kind, options = wire.get("response_type"), listing(wire.get("options") or [], "`options`")
    if not isinstance(text, str) or not text:
        raise DialectError("An `ask_user_question` needs its `question`.")
    if kind not in KINDS:
        raise DialectError(f"The `response_type` of a question is one of {', '.join(KINDS)}.")
    read = [envelope(option, "An option") for option in options]
    values = [option.get("value") for option in read]
    if not all(isinstance(value, str) and value for value in values) or (
        bool(values) is (kind == "freeform")
    ):
        raise DialectError(f"A question of the kind {kind} has other `options`: each a `value`.")
    keys = ("question", "response_type", "options", "allow_other", "allow_cancel", "context")
    said = optional_text(context, "`context`")
    return Asked(
        name=TOOL,
        args={key: wire[key] for key in keys if wire.get(key) is not None},
        description=f"{text}\n\n{said}" if said else text,
        allowed=("respond", "ignore") if wire.get("allow_cancel") is not False else ("respond",),
        id=optional_text(wire.get("tool_call_id"), "`tool_call_id`"),
        # Where an option is called `other`, selecting that says nothing else.
        answer_schema=_schema(kind, read, wire.get("allow_other") is True and _OTHER not in values),
        extra={"type": TYPE},
    )


def question_of(review: Review, action: Action) -> Json:
    """As its tool asks: the arguments are that question where it is the tool's own, else what may be
    answered says it."""
    args = asked_args(review, action)
    values = _options(action)
    asked: Json = {
        "question": texts_of(review, action),
        "response_type": _kind(action),
        "options": [{"label": str(value), "value": value} for value in values],
        "allow_other": _takes_other(action),
        "context": None,
    }
    own = is_mapping(args, "question", "response_type")
    return {
        "type": TYPE,
        **asked,
        **(args if own else {}),
        "allow_cancel": "ignore" in takes(action),
        "tool_call_id": action.request.tool_call_id,
    }


def proposal_of(place: Place, response: object) -> Proposal:
    """Raises DecisionError, in Sagents' own words."""
    said = cast(Json, response) if isinstance(response, dict) else {}
    if said.get("type") == "answer":
        return _answer(place, said)
    if said.get("type") != "cancel":
        expected = "Expected %{type: :answer, ...} or %{type: :cancel}"
        place.wrong(f"Invalid response format. {expected}", "type")
    if "ignore" not in place.allowed:
        place.wrong("Cancellation is not allowed for this question", "type", "not_allowed")
    return place.proposal("ignore", "type")


def word(action: Action, end: Ending) -> Json | None:
    """What Sagents resumes with. An answer that is none of the options is told as `other`, where the question
    takes one. Only a person selects: a deadline may say a text of its own, or cancel.
    """
    allowed = takes(action)
    if end.kind in ("reject", "ignore"):
        return {"type": "cancel"} if "ignore" in allowed else None
    if end.kind != "respond" or "respond" not in allowed:
        return None
    value = end.message if end.answer is None else end.answer
    kind = _kind(action)
    if kind == "freeform":
        fits = isinstance(value, str) and value
        return {"type": "answer", "other_text": value} if fits else None
    given = cast(list[Any], value) if isinstance(value, list) else [value]
    options = _options(action)
    others = [each for each in given if each not in options]
    selected = [each for each in given if each in options]
    if not given or (others and not _takes_other(action)) or (selected and not end.by_person):
        return None
    answer: Json = {"type": "answer", "selected": [*selected, _OTHER] if others else selected}
    if others:
        answer["other_text"] = ", ".join(map(str, others))
    elif isinstance(value, str) and end.message not in (None, value):
        answer["other_text"] = end.message
    return answer


def _answer(place: Place, said: Json) -> Proposal:
    kind, more = _kind(place.action), said.get("other_text")
    if more is not None and not isinstance(more, str):
        place.wrong(f"{kind} 'other_text' must be a string", "other_text")
    if kind == "freeform":
        if not more:
            place.wrong("freeform response requires 'other_text' field", "other_text")
        return place.proposal("respond", "other_text", answer=more)
    selected: object = said.get("selected", [])
    values = cast(list[Any], selected) if isinstance(selected, list) else []
    if kind == "single_select" and len(values) != 1:
        place.wrong("single_select requires exactly one selection", "selected")
    if not values:
        place.wrong("multi_select requires at least one selection", "selected")
    is_other = _OTHER in values and _OTHER not in _options(place.action)
    if is_other and not _takes_other(place.action):
        place.wrong("'other' is not allowed for this question", "selected", "invalid_answer")
    if is_other:
        values = [each for each in values if each != _OTHER] + ([more] if more else [])
    answer = values if kind == "multi_select" else next(iter(values), None)
    message = more if more and not is_other and kind == "single_select" else None
    return place.proposal("respond", "selected", answer=answer, message=message)


def _schema(kind: Kind, options: list[Json], others: bool) -> Json:
    text: Json = {"type": "string", "minLength": 1}
    if kind == "freeform":
        return text
    values = [option["value"] for option in options]
    one: Json = {**text, "examples": values} if others else one_of(options)
    return one if kind == "single_select" else {"type": "array", "items": one, "minItems": 1}


def _one(action: Action) -> Json:
    """The schema of one selection."""
    schema = action.config.answer_schema or {}
    items: Any = schema.get("items", schema)
    return cast(Json, items) if isinstance(items, dict) else {}


def _options(action: Action) -> list[Any]:
    one = _one(action)
    found: Any = one.get("examples") or options_in(one)
    return cast(list[Any], found) if isinstance(found, list) else []


def _takes_other(action: Action) -> bool:
    return not options_in(_one(action)) and _OTHER not in _options(action)


def _kind(action: Action) -> Kind:
    if (action.config.answer_schema or {}).get("type") == "array":
        return "multi_select"
    return "single_select" if _options(action) else "freeform"
