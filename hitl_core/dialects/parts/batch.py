"""LangChain's batch: one interrupt for all calls of a turn, with the key names of Python or JavaScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_core.dialects.parts.config import ConfigFormat
from hitl_core.dialects.parts.decisions import (
    FinalDecision,
    dump_each,
    interrupt_decisions,
    to_rejection,
)
from hitl_core.dialects.parts.json import (
    Json,
    check_wire,
    read_envelope,
    read_list,
    read_object,
    read_optional_text,
)
from hitl_core.dialects.parts.requests import (
    InterruptAction,
    build_request,
    common_decisions,
    dialect_description,
    original_args,
    parse_decision_types,
)
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DecisionType, DialectName, Review, ToolCall, read_arguments
from hitl_core.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNames:
    """The key names of one language. `sends_schema`: the review config has the schema of edited arguments."""

    actions: str
    configs: str
    action_name: str
    allowed: str
    schema: str
    edited: str
    sends_schema: bool


SNAKE = KeyNames(
    actions="action_requests",
    configs="review_configs",
    action_name="action_name",
    allowed="allowed_decisions",
    schema="args_schema",
    edited="edited_action",
    sends_schema=False,
)
CAMEL = KeyNames(
    actions="actionRequests",
    configs="reviewConfigs",
    action_name="actionName",
    allowed="allowedDecisions",
    schema="argsSchema",
    edited="editedAction",
    sends_schema=True,
)


@dataclass(frozen=True, slots=True)
class Batch:
    """The base of LangChain's two middlewares and XpertAI's. Each reads answers in its own way."""

    config_format: ConfigFormat
    key_names: KeyNames

    @property
    def name(self) -> DialectName:
        return self.config_format.dialect

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(
            config,
            name=name,
            read=self.config_format.get_reader(),
            dialect=self.config_format.dialect,
        )

    def dump_request(self, review: Review) -> Json:
        return {
            self.key_names.actions: [
                {
                    "name": action.request.title or action.request.name,
                    "args": original_args(review, action),
                    "description": dialect_description(review, action),
                }
                for action in review.actions
            ],
            self.key_names.configs: [self._dump_config(action) for action in review.actions],
        }

    def _dump_config(self, action: Action) -> Json:
        config: Json = {
            self.key_names.action_name: action.request.title or action.request.name,
            self.key_names.allowed: common_decisions(self.name, action, self.config_format.known),
        }
        if self.key_names.sends_schema and action.config.args_schema is not None:
            config[self.key_names.schema] = action.config.args_schema
        return config

    def load_request(
        self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        keys = self.key_names
        interrupt = read_envelope(check_wire(wire, javascript=keys is CAMEL), "The interrupt")
        actions = read_list(interrupt.get(keys.actions), f"`{keys.actions}`")
        configs = read_list(interrupt.get(keys.configs), f"`{keys.configs}`")
        if len(actions) != len(configs) or not actions:
            raise DialectError(
                f"`{keys.actions}` and `{keys.configs}` must have one entry for each call."
            )
        loaded_actions = [self._load_action(a, c) for a, c in zip(actions, configs, strict=True)]
        return build_request(self.name, loaded_actions, thread_id, calls)

    def _load_action(self, action: object, config: object) -> InterruptAction:
        request = read_envelope(action, f"An entry of `{self.key_names.actions}`")
        settings = read_envelope(config, f"An entry of `{self.key_names.configs}`")
        name = request.get("name")
        if settings.get(self.key_names.action_name, name) != name:
            raise DialectError(
                f"`{self.key_names.action_name}` must be the name of the action at the same position."
            )
        schema = settings.get(self.key_names.schema)
        return InterruptAction(
            name=read_name(name),
            args=read_arguments(request, "args", "arguments", tool=name, texts=("description",)),
            description=read_optional_text(request.get("description"), "A description"),
            allowed=parse_decision_types(
                read_list(settings.get(self.key_names.allowed), f"`{self.key_names.allowed}`")
            ),
            args_schema=None
            if schema is None
            else read_object(schema, f"`{self.key_names.schema}`"),
        )

    @property
    def can_rename(self) -> bool:
        return True

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Json | None:
        return format_decision(final, action, self.config_format.known, self.key_names)

    def dump_decisions(self, review: Review) -> Json:
        return {"decisions": dump_each(self, review)}


def format_decision(
    final: FinalDecision, action: Action, known: Sequence[DecisionType], key_names: KeyNames
) -> Json | None:
    """One decision; None if the interrupt doesn't allow it. An ignored call is sent as a rejection."""
    final = to_rejection(final)
    if final.kind not in known or final.kind not in interrupt_decisions(action):
        return None
    if final.kind == "edit":
        return {"type": "edit", key_names.edited: {"name": final.name, "args": final.args}}
    if final.kind == "approve" or (final.kind == "reject" and final.message is None):
        return {"type": final.kind}
    return {"type": final.kind, "message": final.message or ""}


def read_name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidToolCall("An action of the interrupt has no name.")
    return value
