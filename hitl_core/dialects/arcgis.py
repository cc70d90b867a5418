"""ArcGIS AI components: a question of one of four kinds, answered by a payload.

https://developers.arcgis.com/javascript/latest/
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, cast

from hitl_core.dialects._arcgis_config import question, read_config
from hitl_core.dialects._decisions import Place, Spoken, answer_wire, spoken, unsayable
from hitl_core.dialects._json import Json, mapping, optional_text, plain
from hitl_core.dialects._requests import Asked, asked_args, request_of, sendable, texts_of
from hitl_core.errors import DecisionError, DialectError, Unsayable
from hitl_core.gate import Request
from hitl_core.model import Action, DecisionType, DialectName, Review, ToolCall
from hitl_core.policy import Policy
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
        metadata: Json = {
            "toolName": action.request.title or action.request.name,
            "args": asked_args(review, action),
        }
        kind = _kind(action)
        if kind in ("multipleSelection", "singleSelection"):
            metadata["options"] = _options(action)
        return {
            "id": _id(action),
            "agentId": _agent(review),
            "kind": kind,
            "message": texts_of(review, action),
            "metadata": metadata,
        }

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        found = plain(wire, javascript=True)
        interrupts = cast(list[object], found) if isinstance(found, list) else [found]
        if not interrupts:
            raise DialectError("There is no interrupt in this.")
        each = [mapping(one, "A UiInterrupt") for one in interrupts]
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

    def takes(
        self,
        kind: DecisionType,
        allowed: Collection[DecisionType],
        *,
        message: str | None = None,
        renames: bool = False,
    ) -> bool:
        """There is a payload for yes, for no, and for an answer."""
        return kind in ("approve", "reject", "respond") and not renames

    def dump_decisions(self, review: Review) -> Json | list[Json]:
        each = [
            {"id": _id(action), "agentId": _agent(review), "payload": self._payload(review, action)}
            for action in review.actions
        ]
        return sendable(each[0] if len(each) == 1 else each, self.name)

    def _payload(self, review: Review, action: Action) -> Any:
        said: Spoken = spoken(review, action)
        renames = said.name != action.request.name
        if not self.takes(said.kind, action.config.allowed_decisions, renames=renames):
            raise unsayable(self.name, said)
        if said.kind == "reject":
            return False
        bare = True if said.kind == "approve" else said.message
        return bare if said.answer is None else said.answer


def is_partial(wire: object) -> bool:
    """What an `interrupt` function makes, before ArcGIS' middleware adds to it what names it."""
    found = cast(Json, wire) if isinstance(wire, dict) else {}
    said = isinstance(found.get("message"), str) or found.get("kind") in KINDS
    return said and found.keys() < {*INTERRUPT_KEYS}


def payload(wire: object) -> Any:
    """`getHumanInTheLoopPayload`: what a person answered, None where nobody did."""
    return cast(Json, wire).get("payload") if isinstance(wire, dict) else None


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
    asked = question(value, into_input=False, has_output=False)
    title = about.get("toolName")
    name = title if isinstance(title, str) else f"agent:{_text(value, 'agentId')}"
    args = about.get("args")
    tool = re.sub(r"[^A-Za-z0-9_.:/-]", "_", name)[:128]
    return Asked(
        name=tool,
        args=args if isinstance(args, dict) else {},
        description=optional_text(value.get("message"), "`message`"),
        allowed=asked.allowed_decisions,
        id=interrupt_id,
        answer_schema=asked.answer_schema,
        title=name if name != tool else None,
        interrupt_id=interrupt_id,
    )


def _kind(action: Action) -> Kind:
    allowed, schema = action.config.allowed_decisions, action.config.answer_schema or {}
    if schema.get("type") == "array":
        return "multipleSelection"
    if "enum" in schema:
        return "singleSelection"
    if schema.get("type") == "string":
        return "textInput"
    if "approve" in allowed or "reject" in allowed:
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
    return list(cast(Json, items).get("enum", ())) if isinstance(items, dict) else []


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
