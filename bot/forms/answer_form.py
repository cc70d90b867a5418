"""The form for a person's own answer, if the question's schema is more than plain text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hitl_core.forms import Answers
from hitl_core.jsonschema import wrap_schema
from hitl_core.model import Action, JsonObject, Review
from hitl_core.review import Proposal, answer_schema_of, hides_options

from ..card import call_about, description_text, find_open_action
from .limits import FormLimits
from .message_form import answer_effect
from .page import FormRef
from .review_form import FormFrame, ReviewForm
from .session import FormSession
from .source import FormSource

_ANSWER_FIELD = "answer"
_LABEL = "Your answer"
_TEXT_KEYWORDS = {"type", "title", "description", "minLength", "maxLength", "default", "examples"}


def is_plain_text(schema: Mapping[str, Any] | None) -> bool:
    """Whether the schema accepts any text, with no rule but its length."""
    return schema is None or (schema.get("type") == "string" and schema.keys() <= _TEXT_KEYWORDS)


class AnswerForm(ReviewForm):
    """A form for one answer. Raises Refused if no form can be made."""

    def __init__(
        self,
        review: Review,
        action: Action,
        ref: FormRef,
        limits: FormLimits,
        answers: Answers | None = None,
    ) -> None:
        self._review, self._action = review, action
        assert ref.kind == "respond" or ref.kind == "approve"  # the other kinds have no answer
        self._kind: Literal["respond", "approve"] = ref.kind
        answer_schema = answer_schema_of(review, action) or {}
        self._is_object = _has_own_fields(answer_schema)
        titled = {"title": _LABEL, **answer_schema}
        schema = answer_schema if self._is_object else wrap_schema(titled, _ANSWER_FIELD)
        # The agent may have chosen these names.
        source = FormSource(
            schema,
            self._previous_answer(),
            revision=action.revision,
            name_values=not hides_options(review, action),
            fills_blanks=True,
        )
        super().__init__(ref, FormSession(source, limits, answers, ref.page))

    def _previous_answer(self) -> JsonObject:
        """An earlier answer of another person, which is prefilled so that this person can agree to it."""
        answers = [vote.answer for vote in self._action.votes if vote.type == self._kind]
        if not answers or answers[-1] is None:
            return {}
        return answers[-1] if self._is_object else {_ANSWER_FIELD: answers[-1]}

    def proposal(self) -> Proposal:
        value, target = self.session.value(), self.ref.target
        answer = value if self._is_object else value[_ANSWER_FIELD]
        return Proposal(self._kind, target.revision, answer=answer, seal=target.seal)

    def frame(self) -> FormFrame:
        question = description_text(find_open_action(self._review, self._action.key))
        about = call_about(self._review, self._action)
        effect = answer_effect(self._action, runs=self._kind == "approve")
        if self._kind == "respond":
            effect = f"{effect} The agent gets your answer as its result."
        return FormFrame("Answer", effect, "Answer", about, question=question)


def _has_own_fields(schema: Mapping[str, Any]) -> bool:
    """Whether the answer is an object whose properties are the form's fields."""
    is_object = schema.get("type") == "object" and bool(schema.get("properties"))
    return is_object and not {"anyOf", "oneOf"} & schema.keys()
