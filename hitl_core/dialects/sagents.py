"""Sagents, an agent framework for Elixir: a map of decisions by tool name, with the calls' ids.

https://hexdocs.pm/sagents
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_core.dialects._config import Words
from hitl_core.dialects._decisions import Place, answer_wire, places, spoken, unsayable
from hitl_core.dialects._json import Json, is_mapping, listing, mapping, optional_text, plain
from hitl_core.dialects._requests import (
    Asked,
    allowed_words,
    asked_args,
    decision_types,
    request_of,
    texts_of,
)
from hitl_core.errors import DecisionError, DialectError, Unsayable
from hitl_core.gate import Request
from hitl_core.model import Action, DecisionType, DialectName, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.proposal import Proposal

ALL: tuple[DecisionType, ...] = ("approve", "edit", "reject")
_WORDS = Words(
    dialect="sagents",
    rules="interrupt_on",
    prefix=None,
    allowed="allowed_decisions",
    schema="args_schema",
    override="allow_override",
    known=ALL,
    everything=ALL,
    missing=ALL,
    strict=False,
)
_COUNT = "Decision count ({given}) does not match HITL tool count ({asked})"
_ATOM = re.compile(r"[a-z_][A-Za-z0-9_]*[?!]?")


class Sagents:
    """JSON has no atoms: a text stands for one wherever Sagents has one."""

    name: DialectName = "sagents"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(config, name=name, read=_WORDS.reader(), dialect=self.name)

    def dump_request(self, review: Review) -> Json:
        configs: dict[str, list[DecisionType]] = {}
        for action in review.actions:
            allowed = allowed_words(self.name, action, ALL)
            if configs.setdefault(action.request.name, allowed) != allowed:
                raise Unsayable(
                    self.name,
                    "review_configs",
                    f"sagents has one list of decisions a tool, and {action.request.name} has two here.",
                )
        return {
            "action_requests": [
                {
                    "tool_call_id": action.request.tool_call_id,
                    "tool_name": action.request.name,
                    "arguments": asked_args(review, action),
                    "display_text": texts_of(review, action) or None,
                }
                for action in review.actions
            ],
            "review_configs": {
                name: {"allowed_decisions": allowed} for name, allowed in configs.items()
            },
            "hitl_tool_call_ids": [action.request.tool_call_id for action in review.actions],
        }

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        """Also one that a sub-agent raised: its `path` names the agents. Several at once come apart in
        `dialects.split`.
        """
        value, path = mapping(plain(wire), "The interrupt"), list[str]()
        while value.get("type") == "subagent_hitl":
            who = value.get("task_name") or value.get("sub_agent_id")
            path.append(optional_text(who, "A sub-agent's name") or "sub-agent")
            inner = value.get("interrupt_data", value.get("inner"))
            value = mapping(inner, "`interrupt_data`")
        if not claims(value):
            raise DialectError(
                "This is no interrupt of Sagents: it has no list of action_requests."
            )
        configs = mapping(value.get("review_configs", {}), "`review_configs`")
        asked = [_asked(each, configs) for each in value["action_requests"]]
        if not asked:
            raise DialectError("There is no action in this interrupt.")
        return request_of(self.name, asked, thread_id, calls, tuple(path))

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """A list, in the order of the actions."""
        found = answer_wire(wire)
        if not isinstance(found, list):
            raise DecisionError("No middleware handled the resume for this interrupt")
        if not review.actions:
            raise DecisionError(
                "No interrupt data found in state. Cannot process decisions without interrupt context."
            )
        decisions = cast(list[object], found)
        return {
            place.action.key: _proposal(place, decision)
            for place, decision in zip(places(review, decisions, _COUNT), decisions, strict=True)
        }

    def dump_decisions(self, review: Review) -> list[Json]:
        """A rejection's reason has no place here: the model gets Sagents' own sentence."""
        return [self._decided(review, action) for action in review.actions]

    def _decided(self, review: Review, action: Action) -> Json:
        said = spoken(review, action)
        kind = "reject" if said.kind == "ignore" else said.kind
        allowed = action.config.allowed_decisions
        if kind not in ALL or kind not in allowed or said.name != action.request.name:
            raise unsayable(self.name, said)
        return {"type": "edit", "arguments": said.args} if kind == "edit" else {"type": kind}


def claims(wire: object) -> bool:
    """Whether its middleware would take this for its own: `restorable_interrupt?/1`."""
    return is_mapping(wire) and isinstance(wire.get("action_requests"), list)


def _asked(value: object, configs: Json) -> Asked:
    request = mapping(value, "An entry of `action_requests`")
    name = request.get("tool_name")
    if not isinstance(name, str):
        raise DialectError("An entry of `action_requests` has no `tool_name`.")
    config = mapping(configs.get(name, {}), f"The config of {name}")
    allowed = listing(config.get("allowed_decisions", list(ALL)), "`allowed_decisions`")
    return Asked(
        name=name,
        args=request.get("arguments"),
        description=optional_text(request.get("display_text"), "`display_text`"),
        allowed=decision_types(allowed),
        id=optional_text(request.get("tool_call_id"), "`tool_call_id`"),
    )


def _proposal(place: Place, decision: object) -> Proposal:
    if not isinstance(decision, dict):
        place.wrong(f"Decision at index {place.index} is not a map", "type")
    said = cast(Json, decision)
    if "type" not in said:
        place.wrong(
            f"Decision at index {place.index} missing required 'type' field: {inspected(said)}",
            "type",
        )
    word = said["type"]
    kind: DecisionType | None = next(
        (each for each in ALL if each == word and each in place.allowed), None
    )
    if kind is None:
        allowed = ", ".join(f":{each}" for each in place.allowed if each in ALL)
        place.wrong(
            f"Decision type '{word if isinstance(word, str) else inspected(word)}' not allowed for tool"
            f" '{place.tool}'. Allowed: [{allowed}]",
            "type",
            "not_allowed",
        )
    place.check_id(said)
    if kind != "edit":
        return place.proposal(kind, "type")
    if "arguments" not in said:
        place.wrong(
            f"Decision at index {place.index} with type 'edit' must include 'arguments' field:"
            f" {inspected(said)}",
            "arguments",
        )
    return place.proposal("edit", "arguments", args=said["arguments"])


def inspected(value: object, top: bool = True) -> str:
    """As Elixir's `inspect/1` shows it: a decision's own keys are atoms, and so is its type."""
    if isinstance(value, dict):
        items = sorted(cast(Json, value).items())
        shown = [_pair(key, item, top) for key, item in items]
        return f"%{{{', '.join(shown)}}}"
    if isinstance(value, list):
        each = cast(list[object], value)
        return f"[{', '.join(inspected(item, top=False) for item in each)}]"
    if value is None:
        return "nil"
    return json.dumps(value, ensure_ascii=False)


def _pair(key: str, value: object, top: bool) -> str:
    if not top:
        return f"{json.dumps(key, ensure_ascii=False)} => {inspected(value, top=False)}"
    atom = key == "type" and isinstance(value, str) and _ATOM.fullmatch(value)
    name = key if _ATOM.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{name}: {f':{value}' if atom else inspected(value, top=False)}"


dialect = Sagents()
