"""The form of a person's own answer, where the question has a schema that is more than text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from bot.card import open_of
from bot.channels.slack.filling import Answers, Filling, Source
from bot.channels.slack.form_modal import FormModal
from bot.channels.slack.ids import Meta
from bot.channels.slack.modals import question
from bot.channels.slack.rich import Block, line, rich_text, words
from hitl_core.model import Action, Review
from hitl_core.model.arguments import JsonObject
from hitl_core.review.transitions import Proposal

_NAME = "answer"
_LABEL = "Your answer"
_OF_TEXT = {"type", "title", "description", "minLength", "maxLength", "default", "examples"}
#: Where references inside the schema lead to.
_SHARED = ("$schema", "$defs", "definitions")
_TOLD = {
    "respond": "The tool does not run. The agent gets your answer as its result.",
    "approve": "The tool runs with your answer.",
}


def is_plain(schema: Mapping[str, Any] | None) -> bool:
    """Whether it asks for any text, and for nothing more of it."""
    return schema is None or (schema.get("type") == "string" and schema.keys() <= _OF_TEXT)


class Answering(FormModal):
    """Raises Refused where no form can be made."""

    def __init__(
        self,
        review: Review,
        action: Action,
        kind: Literal["respond", "approve"],
        meta: Meta,
        answers: Answers,
    ) -> None:
        self._review, self._action = review, action
        self._kind: Literal["respond", "approve"] = kind
        asked = action.config.answer_schema or {}
        self._is_object = asked.get("type") == "object"
        schema = asked if self._is_object else _object(asked)
        source = Source(schema, self._agreed(), revision=action.revision)
        super().__init__(f"answer_{kind}", meta, Filling(source, answers, meta.page))

    def _agreed(self) -> JsonObject:
        """What another person answered already is there to be agreed to."""
        given = [vote.answer for vote in self._action.votes if vote.type == self._kind]
        if not given or given[-1] is None:
            return {}
        return given[-1] if self._is_object else {_NAME: given[-1]}

    def at(self, page: int, *, kept: bool) -> FormModal:
        meta = replace(self.meta, page=page, kept=kept)
        return Answering(self._review, self._action, self._kind, meta, self.answers)

    def proposal(self) -> Proposal:
        value = self.filling.value()
        given = value if self._is_object else value[_NAME]
        target = self.meta.target
        return Proposal(self._kind, target.revision, answer=given, seal=target.seal)

    def title(self) -> str:
        return "Answer"

    def told(self) -> list[Block]:
        head = words(f"{self._action.name}   ", bold=True)
        about = rich_text("told", line(head, words(_TOLD[self._kind])))
        return [about, *question(open_of(self._review, self._action.key).why)]

    def last_word(self) -> str:
        return "Answer"


def _object(schema: dict[str, Any]) -> dict[str, Any]:
    """A form is that of an object: this one has the answer as its only value."""
    return {
        **{key: schema[key] for key in _SHARED if key in schema},
        "type": "object",
        "properties": {_NAME: {"title": _LABEL, **schema}},
        "required": [_NAME],
    }
