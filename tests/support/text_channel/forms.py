"""A page of a form as lines of text, and what a person writes below it as entries. Pure.

Inputs have numbers: `1: jo@example.com` fills in the first one. An input that is not named keeps its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from bot.card import Strong, Text, Verbatim
from bot.forms import Entries, FormLimits, FormPage, FormRef, PageField

from .network import Button, Content
from .render import to_lines

LIMITS = FormLimits(page_fields=5, page_bytes=12_000)
_INPUT = re.compile(r"^(\d{1,3}): ?", re.MULTILINE)


@dataclass(frozen=True)
class OpenForm:
    """What the chat system sends back with the text: the form, its page, and the ids of its
    inputs in order.
    """

    session_id: str
    ref: FormRef
    ids: tuple[str, ...]

    def to_token(self) -> str:
        return _TOKEN.dump_json(self).decode()

    @classmethod
    def from_token(cls, token: str) -> OpenForm:
        return _TOKEN.validate_json(token)

    def read(self, text: str) -> Entries:
        """The first line belongs to the first input, unless it names another."""
        first, *parts = _INPUT.split(text)
        written = dict(zip(parts[::2], parts[1::2], strict=True))
        if first.strip():
            written.setdefault("1", first)
        answers = {
            id: written[str(number)].strip() or None
            for number, id in enumerate(self.ids, start=1)
            if str(number) in written
        }
        return Entries(answers, frozenset(self.ids) - answers.keys())


_TOKEN = TypeAdapter(OpenForm)


def form_content(page: FormPage, session_id: str) -> Content:
    inputs = [one for one in page.fields if one.field.locked is None]
    form = OpenForm(session_id, page.ref, tuple(one.id for one in inputs))
    lines = to_lines(
        [
            (Strong(page.title), Text(f" {page.ref.page + 1}/{page.count}")),
            (Strong(page.problem),),
            *page.about,
            (Text(page.name), Text(" "), Text(page.effect)),
            (Text(page.question),),
            *(each for one in page.fields for each in (*one.warnings, _field_line(one, inputs))),
        ]
    )
    labels = [page.back, page.submit]
    buttons = [
        Button(label, verb) for label, verb in zip(labels, ("back", "send"), strict=True) if label
    ]
    return Content(lines, tuple(buttons), form.to_token())


def errors_content(errors: Mapping[str, str], form: OpenForm) -> Content:
    """What is wrong, with the form still open."""
    numbers = {id: number for number, id in enumerate(form.ids, start=1)}
    lines = [(Text(f"{numbers[id]}: "), Verbatim(text)) for id, text in errors.items()]
    return Content(to_lines(lines), (), form.to_token())


def _field_line(one: PageField, inputs: list[PageField]) -> tuple[Text | Strong | Verbatim, ...]:
    field = one.field
    number = f"{inputs.index(one) + 1}: " if one in inputs else ""
    options = "  ".join(f"{at} = {option.label}" for at, option in enumerate(field.options))
    hints = [part for part in (field.locked, one.help, field.hint, options) if part]
    return (
        Text(number), Strong(field.label), Verbatim(f" {field.initial or ''}"),
        *(Verbatim(f" ({hint})") for hint in hints),
    )  # fmt: skip
