"""The form of a person's own answer, where the question has a schema that is more than text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bot.channels.slack import fields
from bot.channels.slack.fields import Ids
from bot.channels.slack.ids import Meta
from bot.channels.slack.inputs import input_block
from bot.channels.slack.modals import View, modal
from bot.channels.slack.rich import line, rich_text, words
from hitl_core.errors import Refused
from hitl_core.forms import SchemaError, make_form
from hitl_core.forms import read_answers as read_form
from hitl_core.model import Action

_NAME = "answer"


def is_plain(schema: Mapping[str, Any] | None) -> bool:
    """Whether any text will do, of whatever length."""
    return schema is None or (schema.get("type") == "string" and "enum" not in schema)


class AnswerForm:
    """One field. Raises Refused where no form can be made."""

    def __init__(self, action: Action, kind: Literal["respond", "approve"]) -> None:
        self._action, self._kind = action, kind
        self._schema: dict[str, Any] = {
            "type": "object",
            "properties": {_NAME: action.config.answer_schema or {}},
            "required": [_NAME],
        }
        try:
            self._form = fields.shown_form(make_form(self._schema, {}))
        except SchemaError as error:
            raise Refused("no_form", f"No form can be made of it: {error}.") from error
        self._ids = Ids(self._form, action.revision)

    def view(self, meta: Meta) -> View:
        name = self._action.request.name
        told = {
            "respond": "The tool does not run. The agent gets your answer as its result.",
            "approve": "The tool runs with your answer.",
        }[self._kind]
        head = rich_text("told", line(words(f"{name}   ", bold=True), words(told)))
        drawn = [input_block(field, self._ids.of(field)) for field in self._form.fields]
        callback_id = f"answer_{self._kind}"
        return modal(callback_id, "Answer", [head, *drawn], meta, submit="Answer")

    def read(self, values: Mapping[str, Any]) -> Any:
        """The answer. Raises FormErrors."""
        answers = fields.read_answers(self._form.fields, self._ids, values)
        return read_form(self._schema, {}, answers)[_NAME]

    def errors(self, errors: Mapping[str, str], top: tuple[str, ...]) -> dict[str, str]:
        return fields.errors_by_block(self._form.fields, self._ids, errors, top)
