"""The form for a person's own answer, if the question's schema is more than plain text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from hitl_core.model import Action, JsonObject, Review
from hitl_core.review import Proposal

from ....card import description_text, find_open_action
from ..ids import ModalMeta
from ..render import Block, line, rich_text, text_element
from .form_modal import FormModal
from .form_state import Answers, FormSource, FormState
from .small_modals import question_blocks

_ANSWER_FIELD = "answer"
_LABEL = "Your answer"
_TEXT_KEYWORDS = {"type", "title", "description", "minLength", "maxLength", "default", "examples"}
#: Where `$ref`s inside the schema point to.
_REFERENCE_KEYWORDS = ("$schema", "$defs", "definitions")
_EXPLANATIONS = {
    "respond": "The tool does not run. The agent gets your answer as its result.",
    "approve": "The tool runs with your answer.",
}


def is_plain_text(schema: Mapping[str, Any] | None) -> bool:
    """Whether the schema accepts any text, with no rule but its length."""
    return schema is None or (schema.get("type") == "string" and schema.keys() <= _TEXT_KEYWORDS)


class AnswerModal(FormModal):
    """Raises Refused if no form can be made."""

    def __init__(
        self,
        review: Review,
        action: Action,
        kind: Literal["respond", "approve"],
        meta: ModalMeta,
        answers: Answers,
    ) -> None:
        self._review, self._action = review, action
        self._kind: Literal["respond", "approve"] = kind
        answer_schema = action.config.answer_schema or {}
        self._is_object = answer_schema.get("type") == "object"
        schema = answer_schema if self._is_object else _to_object_schema(answer_schema)
        source = FormSource(schema, self._previous_answer(), revision=action.revision)
        super().__init__(f"answer_{kind}", meta, FormState(source, answers, meta.page))

    def _previous_answer(self) -> JsonObject:
        """An earlier answer of another person is prefilled, to agree to it."""
        answers = [vote.answer for vote in self._action.votes if vote.type == self._kind]
        if not answers or answers[-1] is None:
            return {}
        return answers[-1] if self._is_object else {_ANSWER_FIELD: answers[-1]}

    def at_page(self, page: int, *, has_draft: bool) -> FormModal:
        meta = replace(self.meta, page=page, has_draft=has_draft)
        return AnswerModal(self._review, self._action, self._kind, meta, self.answers)

    def proposal(self) -> Proposal:
        value = self.form_state.value()
        answer = value if self._is_object else value[_ANSWER_FIELD]
        target = self.meta.target
        return Proposal(self._kind, target.revision, answer=answer, seal=target.seal)

    def title(self) -> str:
        return "Answer"

    def intro_blocks(self) -> list[Block]:
        head = text_element(f"{self._action.name}   ", bold=True)
        about = rich_text("told", line(head, text_element(_EXPLANATIONS[self._kind])))
        action = find_open_action(self._review, self._action.key)
        return [about, *question_blocks(description_text(action))]

    def submit_label(self) -> str:
        return "Answer"


def _to_object_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A form needs an object: this one has the answer as its only property."""
    return {
        **{key: schema[key] for key in _REFERENCE_KEYWORDS if key in schema},
        "type": "object",
        "properties": {_ANSWER_FIELD: {"title": _LABEL, **schema}},
        "required": [_ANSWER_FIELD],
    }
