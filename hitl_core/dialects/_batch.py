"""The batch that LangChain's middleware asks with, one interrupt a turn, in the spelling of two languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_core.dialects._config import Words
from hitl_core.dialects._decisions import Ending, Place, as_rejection, takes, words_of
from hitl_core.dialects._json import Json, envelope, first, listing, mapping, optional_text, plain
from hitl_core.dialects._requests import (
    Asked,
    allowed_words,
    asked_args,
    decision_types,
    request_of,
    texts_of,
)
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate import Request
from hitl_core.model import Action, DecisionType, DialectName, Review, ToolCall
from hitl_core.model.call_shapes import arguments_in
from hitl_core.policy import Policy

#: LangChain's, in both languages.
COUNT = "Number of human decisions ({given}) does not match number of hanging tool calls ({asked})."


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The keys of one language. `sends_schema`: the review config says what arguments an edit may have."""

    actions: str
    configs: str
    action_name: str
    allowed: str
    schema: str
    edited: str
    sends_schema: bool


SNAKE = Spelling(
    actions="action_requests",
    configs="review_configs",
    action_name="action_name",
    allowed="allowed_decisions",
    schema="args_schema",
    edited="edited_action",
    sends_schema=False,
)
CAMEL = Spelling(
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
    """What LangChain's two middlewares and XpertAI's have in common; each has its own words for an answer."""

    words: Words
    spelling: Spelling

    @property
    def name(self) -> DialectName:
        return self.words.dialect

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(
            config, name=name, read=self.words.reader(), dialect=self.words.dialect
        )

    def dump_request(self, review: Review) -> Json:
        return {
            self.spelling.actions: [
                {
                    "name": action.request.title or action.request.name,
                    "args": asked_args(review, action),
                    "description": texts_of(review, action),
                }
                for action in review.actions
            ],
            self.spelling.configs: [self._config(action) for action in review.actions],
        }

    def _config(self, action: Action) -> Json:
        config: Json = {
            self.spelling.action_name: action.request.title or action.request.name,
            self.spelling.allowed: allowed_words(self.name, action, self.words.known),
        }
        if self.spelling.sends_schema and action.config.args_schema is not None:
            config[self.spelling.schema] = action.config.args_schema
        return config

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        keys = self.spelling
        found = envelope(plain(wire, javascript=keys is CAMEL), "The interrupt")
        actions = listing(found.get(keys.actions), f"`{keys.actions}`")
        configs = listing(found.get(keys.configs), f"`{keys.configs}`")
        if len(actions) != len(configs) or not actions:
            raise DialectError(
                f"`{keys.actions}` and `{keys.configs}` must have one entry for each call."
            )
        asked = [self._asked(a, c) for a, c in zip(actions, configs, strict=True)]
        return request_of(self.name, asked, thread_id, calls)

    def _asked(self, action: object, config: object) -> Asked:
        request = envelope(action, f"An entry of `{self.spelling.actions}`")
        may = envelope(config, f"An entry of `{self.spelling.configs}`")
        name = request.get("name")
        if may.get(self.spelling.action_name, name) != name:
            raise DialectError(f"`{self.spelling.action_name}` names another tool than the action.")
        schema = may.get(self.spelling.schema)
        return Asked(
            name=read_name(name),
            args=arguments_in(request, "args", "arguments", tool=name),
            description=optional_text(request.get("description"), "A description"),
            allowed=decision_types(
                listing(may.get(self.spelling.allowed), f"`{self.spelling.allowed}`")
            ),
            args_schema=None if schema is None else mapping(schema, f"`{self.spelling.schema}`"),
        )

    def edited_action(self, decision: Json) -> object:
        """Under either spelling."""
        return first(decision, self.spelling.edited, SNAKE.edited, CAMEL.edited)

    @property
    def renames(self) -> bool:
        return True

    def word(self, review: Review, action: Action, end: Ending) -> Json | None:
        return decision_word(end, action, self.words.known, self.spelling)

    def dump_decisions(self, review: Review) -> Json:
        return {"decisions": words_of(self, review)}


def decision_word(
    end: Ending, action: Action, known: Sequence[DecisionType], spelling: Spelling
) -> Json | None:
    """One decision, None where the interrupt takes none that says this. Skipping is told as a rejection."""
    end = as_rejection(end)
    if end.kind not in known or end.kind not in takes(action):
        return None
    if end.kind == "edit":
        return {"type": "edit", spelling.edited: {"name": end.name, "args": end.args}}
    if end.kind == "approve" or (end.kind == "reject" and end.message is None):
        return {"type": end.kind}
    return {"type": end.kind, "message": end.message or ""}


def read_name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidToolCall("An action of the interrupt has no name.")
    return value


def not_allowed(place: Place, shown: str, kind: object, expected: str) -> str:
    """LangChain's sentence, in both languages."""
    return (
        f"Unexpected human decision: {shown}. Decision type '{kind}' is not allowed for tool '{place.tool}'."
        f" Expected one of {expected} based on the tool's configuration."
    )
