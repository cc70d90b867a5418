"""The dialect: policies, interrupts and answers of ArcGIS ↔ ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_core.dialects.arcgis.question import (
    KINDS,
    kind_of,
    make_payload,
    options_of,
)
from hitl_core.dialects.parts import (
    AGENT_PREFIX,
    FinalDecision,
    InterruptAction,
    Json,
    build_request,
    check_wire,
    dialect_description,
    dump_each,
    ensure_sendable,
    make_question,
    original_args,
    read_config,
    read_envelope,
    read_optional_text,
)
from hitl_core.errors import DialectError
from hitl_core.gate import JudgedCalls
from hitl_core.model import (
    Action,
    DialectName,
    Review,
    ToolCall,
    check_other_keys,
    read_arguments,
)
from hitl_core.policy import Policy

INTERRUPT_KEYS = ("id", "agentId", "kind", "message", "metadata")
RESPONSE_KEYS = ("id", "agentId", "payload")


class ArcGIS:
    """The dialect of ArcGIS. A question of an agent about its own run becomes a call of the tool
    `agent:<agent id>`.
    """

    name: DialectName = "arcgis"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        """`{"agent": {"interrupt"?, "outputKey"?}, "tools": {name: {"interrupt"?, "outputKey"?}}}`: the
        options of its two middlewares. An `interrupt` is a part of a UiInterrupt, or a callable that makes
        it from a request.
        """
        return Policy.from_mapping(config, name=name, read=read_config, dialect=self.name)

    def dump_request(self, review: Review) -> Json | list[Json]:
        """A UiInterrupt; a list of them if the review has several actions."""
        each = [self._dump_interrupt(review, action) for action in review.actions]
        return ensure_sendable(each[0] if len(each) == 1 else each, self.name)

    def _dump_interrupt(self, review: Review, action: Action) -> Json:
        kind, extra = kind_of(action), action.request.extra or {}
        metadata: Json = {
            "toolName": action.request.title or action.request.name,
            "args": original_args(review, action),
        }
        if kind in ("multipleSelection", "singleSelection"):
            metadata["options"] = options_of(action)
        return {
            "id": _interrupt_id(action),
            "agentId": _agent_id(review),
            "kind": kind,
            "message": extra["message"]
            if "message" in extra
            else dialect_description(review, action),
            "metadata": {**metadata, **extra.get("metadata", {})},
        }

    def load_request(
        self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        value = check_wire(wire, javascript=True)
        interrupts = cast(list[object], value) if isinstance(value, list) else [value]
        if not interrupts:
            raise DialectError("The list of interrupts is empty.")
        each = [read_envelope(one, "A UiInterrupt") for one in interrupts]
        agents = dict.fromkeys(_read_text(one, "agentId") for one in each)
        if len(agents) > 1:
            raise DialectError("These interrupts are of several agents: load them one by one.")
        return build_request(
            self.name, [_load_action(one) for one in each], thread_id, calls, tuple(agents)
        )

    @property
    def can_rename(self) -> bool:
        return False

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Json | None:
        """By the app's convention, approve is `true` and reject is `false`, but only if the question is a
        boolean choice. The app continues with every other payload, so such a payload must come from a person
        and must be an answer that the question allows.
        """
        payload = make_payload(action, final)
        if payload is None or final.name != action.request.name:
            return None
        return {
            "id": _interrupt_id(action),
            "agentId": _agent_id(review),
            "payload": payload,
        }

    def dump_decisions(self, review: Review) -> Json | list[Json]:
        each = dump_each(self, review)
        return ensure_sendable(each[0] if len(each) == 1 else each, self.name)


def is_partial(wire: object) -> bool:
    """Whether the value looks like the result of an `interrupt` function, without the ids that ArcGIS's
    middleware adds.
    """
    fields = cast(Json, wire) if isinstance(wire, dict) else {}
    has_question = isinstance(fields.get("message"), str) or fields.get("kind") in KINDS
    return has_question and fields.keys() < {*INTERRUPT_KEYS}


def payload(config: object) -> Any:
    """`getHumanInTheLoopPayload`: the person's answer in an AgentExecutionConfig; None if there is none."""
    for key in ("configurable", "hitlResponse", "payload"):
        config = cast(Json, config).get(key) if isinstance(config, dict) else None
    return config


def _interrupt_id(action: Action) -> str:
    return action.request.interrupt_id or action.request.tool_call_id


def _agent_id(review: Review) -> str:
    return review.path[-1] if review.path else review.agent


def _read_text(value: Json, key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text:
        raise DialectError(f"A UiInterrupt needs its `{key}`.")
    return text


def _load_action(value: Json) -> InterruptAction:
    interrupt_id = _read_text(value, "id")
    if value.get("kind") not in KINDS:
        raise DialectError(f"The `kind` of a UiInterrupt must be one of {', '.join(KINDS)}.")
    read_optional_text(value.get("message"), "`message`")
    metadata = value.get("metadata")
    fields = Json() if metadata is None else read_envelope(metadata, "`metadata`")
    title = read_optional_text(fields.get("toolName"), "`toolName`")
    name = f"{AGENT_PREFIX}{_read_text(value, 'agentId')}" if title is None else title
    check_other_keys(name, value, (*INTERRUPT_KEYS, "options"))
    spec = make_question(value, into_input=False, has_output=False)
    if title is not None or "args" in fields:
        args = read_arguments({"args": fields.get("args")}, "args", tool=name)
    else:  # the agent's run, which has no arguments
        args = Json()
    tool = re.sub(r"[^A-Za-z0-9_.:/-]", "_", name)[:128]
    return InterruptAction(
        name=tool,
        args=args,
        description=spec.text,
        allowed=spec.allowed_decisions,
        id=interrupt_id,
        answer_schema=spec.answer_schema,
        title=name if name != tool else None,
        interrupt_id=interrupt_id,
        extra=spec.extra,
    )


dialect = ArcGIS()
