"""A form in Teams, filled in by a person: checked against Teams' limits, and sent as a client sends it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.channels.teams.ids import OpenForm
from bot.channels.teams.render import TEAMS_LIMITS, CardBuilder, form_card, read_entries
from bot.forms import EditForm, Entries, FormPage, FormRef, ReviewForm
from bot.inbox import ActionRef
from hitl_core.model import Review
from teams_sandbox.validation import elements_in, read_press
from tests.channels.scenes import name_of, review_of
from tests.channels.teams.reading import KEY, actions_of, check

Json = dict[str, Any]

PEN = CardBuilder.of(name_of, KEY)


class Form:
    """One page of a form, as Teams shows it."""

    def __init__(
        self,
        page: FormPage,
        entries: Entries | None = None,
        errors: Mapping[str, str] | None = None,
    ) -> None:
        self.page = page
        self.card = check(form_card(page, "session-1", PEN, entries, errors))
        self.inputs: list[Json] = [
            one
            for _, one in elements_in(self.card)
            if str(one.get("type", "")).startswith("Input.")
        ]

    def input(self, label: str) -> Json:
        """With or without the sign that it is optional."""
        names = (label, f"{label} (optional)")
        return next(one for one in self.inputs if one["label"] in names)

    def send(self, verb: str = "send", **entered: Any) -> Entries:
        """What the bot reads after a person entered this, by label, and pressed the button."""
        action = next(one for one in actions_of(self.card) if one.get("verb") == verb)
        typed = {self.input(label)["id"]: value for label, value in entered.items()}
        data = read_press(self.card, action, typed)
        kind, value = KEY.read(data)
        assert kind == "form"
        form = OpenForm.parse(value)
        assert form.ref == self.page.ref
        return read_entries(data, form.ids)


def edit_form(review: Review) -> EditForm:
    [action] = review.actions
    seal = review.seal(action.key, is_whole=True)
    ref = FormRef("edit", ActionRef(review.id, action.key, action.revision, seal))
    return EditForm(review, action, ref, TEAMS_LIMITS)


def open_edit(schema: Json | None, args: Json, name: str = "tool") -> EditForm:
    rule = {"args_schema": schema} if schema else {}
    return edit_form(review_of((name, args), policy={"interrupt_on": {"*": rule}}))


def fill_in(form: ReviewForm, **entered: Any) -> ReviewForm:
    """The form after a person entered this on its page, and sent it."""
    entries = Form(form.page()).send(**entered)
    filled = form.enter(entries)
    assert filled.session.shows(entries)
    return filled


def fill_pages(form: ReviewForm, **entered: Any) -> ReviewForm:
    """The same on its first page; the other pages are sent as they are."""
    filled = fill_in(form, **entered)
    while not filled.session.is_last_page:
        filled = fill_in(filled.at_page(filled.session.page + 1, draft="1"))
    return filled
