"""A page of a form as a card. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain

from hitl_core.sentences import join_names, quote

from ....card import Button, Line, Strong, Text
from ....forms import Entries, FormPage, PageField
from ....text import clip
from ..ids import FormVerb, OpenForm
from .buttons import execute
from .card_builder import CardBuilder, value_box
from .elements import (
    ALERT,
    BOLD,
    ITALIC,
    MAX_BYTES,
    TITLE,
    TOO_LARGE,
    Json,
    action_sets,
    adaptive_card,
    byte_size,
    fitting_card,
    rich_text,
    text_runs,
)
from .form_limits import TEAMS_LIMITS
from .inputs import can_show, field_inputs, text_length
from .pages import CANCEL, notice_card

#: The characters of a hint if space is short.
HINT_SIZES = (300, 80, 0)
#: The most bytes of a character as JSON in UTF-8. The marks of invisible characters take more; that is
#: checked when the card is drawn.
CHARACTER_BYTES = 3
#: Reserved for the error of each field.
ERROR_BYTES = 400
#: How many fields the top names, and with how many characters.
MAX_LABELS, MAX_LABEL = 4, 60
SHOW_FIELDS = "Show its fields"


def form_card(
    page: FormPage,
    session_id: str,
    builder: CardBuilder,
    entries: Entries | None = None,
    errors: Mapping[str, str] | None = None,
) -> Json:
    """The form, drawn in place of the view of `builder`. With `entries` the fields have the person's input;
    with `errors` (by id) each has its error.
    """
    fields = tuple(_fill(one, entries) for one in page.fields) if entries else page.fields
    ids = tuple(one.id for one in fields if one.field.locked is None)
    page, errors = replace(page, fields=fields), errors or {}
    value = OpenForm(session_id, page.ref, ids, builder.where).to_value()
    form = _Form(page, builder, builder.key.data("form", value), errors)
    cards = map(form.draw, HINT_SIZES)
    notice = notice_card(TOO_LARGE, page.title, builder, page.ref.target.review_id)
    return fitting_card(chain(cards, [notice]))


def _fill(one: PageField, entries: Entries) -> PageField:
    """The field with what was entered, if its input can show that."""
    if one.field.locked is not None or one.id not in entries.answers:
        return one
    answer = entries.answers[one.id]
    shown = answer if answer and can_show(one.field, answer) else None
    return replace(one, field=one.field._replace(initial=shown))


class _Form:
    def __init__(
        self, page: FormPage, builder: CardBuilder, data: dict[str, str], errors: Mapping[str, str]
    ) -> None:
        self._page, self._builder, self._data, self._errors = page, builder, data, errors

    def draw(self, hint_size: int) -> Json:
        """The card. Its texts share the remaining space; a text that is there already is kept."""
        fields = self._page.fields
        wanted = [text_length(one.field, TEAMS_LIMITS.text) for one in fields]
        empty = adaptive_card(
            [*self._top(), *self._body([0] * len(wanted), hint_size), *self._foot()]
        )
        left = MAX_BYTES - byte_size(empty) - ERROR_BYTES * len(fields) * (not self._errors)
        room = max(0, left) // CHARACTER_BYTES
        total = sum(wanted)
        given = wanted if total <= room else [one * room // total for one in wanted]
        return adaptive_card([*self._top(), *self._body(given, hint_size), *self._foot()])

    def _top(self) -> list[Json]:
        page, builder = self._page, self._builder
        where: list[Line] = [(Text(page.where),)] if page.count > 1 else []
        *calls, asker = page.about or ((),)
        named: Line = (Strong(page.name), Text("   ")) if page.name else ()
        return [
            rich_text(text_runs(page.title, **TITLE)),
            *self._problem(),
            *builder.small_lines(where),
            *builder.lines(calls),
            *builder.small_lines([asker]),
            *builder.lines([(*named, Text(page.effect))]),
            *([rich_text(text_runs(page.question, **ITALIC))] if page.question else []),
        ]

    def _problem(self) -> list[Json]:
        """What is wrong. An error below its field may be on another screen of a phone."""
        page, text = self._page, self._page.problem
        wrong = [one.field.label for one in page.fields if one.id in self._errors]
        if wrong and len(page.fields) > 1:
            names = join_names((quote(clip(one, MAX_LABEL)) for one in wrong), most=MAX_LABELS)
            text = f"Not sent yet. Correct what is marked ✖ below: {names}."
        return [rich_text(text_runs(f"⚠ {text}", **ALERT, **BOLD))] if text else []

    def _body(self, room: list[int], hint_size: int) -> list[Json]:
        pairs = zip(self._page.fields, room, strict=True)
        return [element for one, most in pairs for element in self._field(one, most, hint_size)]

    def _field(self, one: PageField, room: int, hint_size: int) -> list[Json]:
        builder, field = self._builder, one.field
        warnings = builder.alerts(one.warnings)
        if field.locked is not None:
            why = " ".join(filter(None, (field.locked, one.help)))
            head = [*text_runs(field.label, **BOLD), *text_runs(f"  {why}", **ITALIC)]
            value = [value_box(field.initial, {})] if field.initial else []
            return [*warnings, rich_text(head), *value]
        error = self._errors.get(one.id)
        wrong = [rich_text(text_runs(f"✖ {error}", **ALERT), spacing="none")] if error else []
        hint = clip(field.hint or "", hint_size) if hint_size else ""
        hints = (
            [rich_text(text_runs(hint, size="small", isSubtle=True), spacing="none")]
            if hint
            else []
        )
        more = action_sets([self._button(SHOW_FIELDS, "redraw")]) if field.redraws else []
        return [*warnings, *field_inputs(field, one.id, room), *wrong, *hints, *more]

    def _foot(self) -> list[Json]:
        page, builder = self._page, self._builder
        target = page.ref.target
        about = (target.review_id, target.action, target.revision)
        file = (
            builder.buttons([Button("file", page.file, page.file_spoken, *about)])
            if page.file
            else []
        )
        is_harsh = page.ref.kind == "reject"
        send = self._button(page.submit, "send", "destructive" if is_harsh else "positive")
        back = [self._button(page.back, "back")] if page.back else []
        return [*file, *action_sets([send, *back, builder.close(target.review_id, CANCEL)])]

    def _button(self, label: str, verb: FormVerb, style: str | None = None) -> Json:
        return execute(label, self._data, verb=verb, style=style)
