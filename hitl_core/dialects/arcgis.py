"""ArcGIS AI components: a question of one of four kinds, answered by a payload.

https://developers.arcgis.com/javascript/latest/
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never, cast

from hitl_core.dialects._arcgis_config import AGENT, options_in, question, read_config
from hitl_core.dialects._decisions import Ending, Place, answer_wire, takes, words_of
from hitl_core.dialects._json import Json, envelope, optional_text, plain
from hitl_core.dialects._requests import Asked, asked_args, request_of, sendable, texts_of
from hitl_core.errors import DecisionError, DialectError, Unsayable
from hitl_core.gate import Request
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.model.call_shapes import arguments_in
from hitl_core.policy import Policy
from hitl_core.policy.wording import as_javascript
from hitl_core.review.proposal import Proposal

Kind = Literal["booleanChoice", "multipleSelection", "singleSelection", "textInput"]
KINDS: tuple[Kind, ...] = ("booleanChoice", "multipleSelection", "singleSelection", "textInput")
INTERRUPT_KEYS = ("id", "agentId", "kind", "message", "metadata")
RESPONSE_KEYS = ("id", "agentId", "payload")


class ArcGIS:
    """An agent that asks about its own run is a call of the tool `agent:<its id>`."""

    name: DialectName = "arcgis"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        """`{"agent": {"interrupt"?, "outputKey"?}, "tools": {name: {"interrupt"?, "outputKey"?}}}`: what its
        two middlewares are made with. An `interrupt` is a part of a UiInterrupt, or a callable that makes
        one of a request.
        """
        return Policy.from_mapping(config, name=name, read=read_config, dialect=self.name)

    def dump_request(self, review: Review) -> Json | list[Json]:
        """A UiInterrupt; a list of them where the review asks several things."""
        each = [self._interrupt(review, action) for action in review.actions]
        return sendable(each[0] if len(each) == 1 else each, self.name)

    def _interrupt(self, review: Review, action: Action) -> Json:
        kind, extra = _kind(action), action.request.extra or {}
        metadata: Json = {
            "toolName": action.request.title or action.request.name,
            "args": asked_args(review, action),
        }
        if kind in ("multipleSelection", "singleSelection"):
            metadata["options"] = _options(action)
        return {
            "id": _id(action),
            "agentId": _agent(review),
            "kind": kind,
            "message": extra["message"] if "message" in extra else texts_of(review, action),
            "metadata": {**metadata, **extra.get("metadata", {})},
        }

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        found = plain(wire, javascript=True)
        interrupts = cast(list[object], found) if isinstance(found, list) else [found]
        if not interrupts:
            raise DialectError("There is no interrupt in this.")
        each = [envelope(one, "A UiInterrupt") for one in interrupts]
        agents = dict.fromkeys(_text(one, "agentId") for one in each)
        if len(agents) > 1:
            raise DialectError("These interrupts are of several agents: load each by itself.")
        return request_of(self.name, [_asked(one) for one in each], thread_id, calls, tuple(agents))

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """A HITLResponse, or a list of them, found by their ids."""
        found = answer_wire(wire, javascript=True)
        responses = cast(list[object], found) if isinstance(found, list) else [found]
        by_id = {_id(action): action for action in review.actions}
        decided: dict[str, Proposal] = {}
        for index, one in enumerate(responses):
            response: Json = cast(Json, one) if isinstance(one, dict) else {}
            said = response.get("id")
            action = by_id.get(said) if isinstance(said, str) else None
            if action is None:
                raise DecisionError("No interrupt here has this id.", index=index, field="id")
            place = Place(review, action, index)
            if response.get("agentId") != _agent(review):
                place.wrong("This interrupt is of another agent.", "agentId")
            if action.key in decided:
                place.wrong("This interrupt is answered twice.", "id")
            decided[action.key] = _proposal(place, response)
        if not decided:
            raise DecisionError("The answer answers nothing.")
        return decided

    @property
    def renames(self) -> bool:
        return False

    def word(self, review: Review, action: Action, end: Ending) -> Json | None:
        """A yes is `true` and a no is `false`, by the app's convention, and only where the question is a yes
        or no. The app goes on with every other payload, so only a person gives one, and only one that the
        question asks for.
        """
        payload = _payload(action, end)
        if payload is None or end.name != action.request.name:
            return None
        return {"id": _id(action), "agentId": _agent(review), "payload": payload}

    def dump_decisions(self, review: Review) -> Json | list[Json]:
        each = words_of(self, review)
        return sendable(each[0] if len(each) == 1 else each, self.name)


def is_partial(wire: object) -> bool:
    """What an `interrupt` function makes, before ArcGIS' middleware adds to it what names it."""
    found = cast(Json, wire) if isinstance(wire, dict) else {}
    said = isinstance(found.get("message"), str) or found.get("kind") in KINDS
    return said and found.keys() < {*INTERRUPT_KEYS}


def payload(config: object) -> Any:
    """`getHumanInTheLoopPayload`: what a person answered, of an AgentExecutionConfig. None: nobody did."""
    for key in ("configurable", "hitlResponse", "payload"):
        config = cast(Json, config).get(key) if isinstance(config, dict) else None
    return config


def _id(action: Action) -> str:
    return action.request.interrupt_id or action.request.tool_call_id


def _agent(review: Review) -> str:
    return review.path[-1] if review.path else review.agent


def _text(value: Json, key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found:
        raise DialectError(f"A UiInterrupt needs its `{key}`.")
    return found


def _asked(value: Json) -> Asked:
    interrupt_id = _text(value, "id")
    if value.get("kind") not in KINDS:
        raise DialectError(f"The kind of a UiInterrupt is one of {', '.join(KINDS)}.")
    metadata = value.get("metadata")
    about: Json = cast(Json, metadata) if isinstance(metadata, dict) else {}
    optional_text(value.get("message"), "`message`")
    asked = question(value, into_input=False, has_output=False)
    title = about.get("toolName")
    name = title if isinstance(title, str) else f"{AGENT}{_text(value, 'agentId')}"
    if isinstance(title, str) or "args" in about:
        args = arguments_in({"args": about.get("args")}, "args", tool=name)
    else:  # the run itself, of which nothing is known
        args = Json()
    tool = re.sub(r"[^A-Za-z0-9_.:/-]", "_", name)[:128]
    return Asked(
        name=tool,
        args=args,
        description=asked.text,
        allowed=asked.allowed_decisions,
        id=interrupt_id,
        answer_schema=asked.answer_schema,
        title=name if name != tool else None,
        interrupt_id=interrupt_id,
        extra=asked.extra,
    )


def _kind(action: Action) -> Kind:
    """As its interrupt says, else by what may be answered."""
    for kind in KINDS:
        if kind == (action.request.extra or {}).get("kind"):
            return kind
    allowed, schema = takes(action), action.config.answer_schema or {}
    if schema.get("type") == "array":
        return "multipleSelection"
    if _options(action):
        return "singleSelection"
    if schema.get("type") == "string":
        return "textInput"
    if "approve" in allowed or "reject" in allowed or schema.get("type") == "boolean":
        return "booleanChoice"
    if "respond" in allowed:
        return "textInput"
    raise Unsayable(
        "arcgis",
        allowed[0],
        f"arcgis has no question for {', '.join(allowed)} on {action.request.name}.",
    )


def _options(action: Action) -> list[Any]:
    schema = action.config.answer_schema or {}
    items: Any = schema.get("items", schema)
    return options_in(cast(Json, items)) if isinstance(items, dict) else []


def _payload(action: Action, end: Ending) -> Any:
    """None where there is none that says this."""
    allowed, kind = takes(action), _kind(action)
    if end.kind in ("reject", "ignore"):
        return False if kind == "booleanChoice" and "reject" in allowed else None
    if end.kind == "edit" or end.kind not in allowed or not end.by_person:
        return None
    if end.kind == "approve" and kind == "booleanChoice":
        return (
            True if end.answer is None or (action.request.extra or {}).get("kind") else end.answer
        )
    given = end.message if end.answer is None else end.answer
    return given if _fits(kind, _options(action), given) else None


def _fits(kind: Kind, options: list[Any], given: Any) -> bool:
    """By the JSON of both: Python takes 1 for True."""

    def one(value: Any) -> bool:
        known = [as_javascript(option, 0) for option in options]
        return as_javascript(value, 0) in known if options else isinstance(value, str)

    match kind:
        case "booleanChoice":
            return isinstance(given, bool)
        case "multipleSelection":
            return isinstance(given, list) and all(map(one, cast(list[Any], given)))
        case "singleSelection":
            return one(given)
        case "textInput":
            return isinstance(given, str)
    assert_never(kind)


def _proposal(place: Place, response: Json) -> Proposal:
    """Yes and no are the app's convention for `true` and `false`; where the question has no other answer, any
    other payload than `false` goes on."""
    given = response.get("payload")
    if given is None:
        place.wrong("The answer has no payload.", "payload")
    if given is False and "reject" in place.allowed:
        return place.proposal("reject", "payload")
    if "approve" in place.allowed:
        asks = place.action.config.answer_schema is not None
        if given is not True and not asks:
            place.wrong("This is answered with true or false.", "payload", "invalid_answer")
        return place.proposal("approve", "payload", answer=given if asks else None)
    if "respond" not in place.allowed:
        place.wrong(f"{place.tool} doesn't allow this answer.", "payload", "not_allowed")
    return place.proposal("respond", "payload", answer=given)


dialect = ArcGIS()
