"""A form in a Slack modal, filled in by a person: the local Slack checks it against Slack's limits, keeps the
values and sends them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.channels.slack.ids import parse_meta
from bot.channels.slack.modals.form_modal import ACTION_ID, field_blocks, form_view, read_entries
from bot.channels.slack.modals.modal import MODAL_LIMITS, modal
from bot.forms import EditForm, Entries, FormRef, FormSession, FormSource, ReviewForm
from bot.inbox.press import ActionRef
from hitl_core.model import Review
from slack_sandbox.validation.blocks import complete_blocks
from slack_sandbox.validation.input_errors import client_errors
from slack_sandbox.validation.states import fill_state
from tests.channels.reading import check_view

Json = dict[str, Any]


class Page:
    """One page of a form, as Slack shows it."""

    def __init__(self, session: FormSession) -> None:
        self.session = session
        blocks = field_blocks([replace(each, warnings=()) for each in session.fields])
        view = modal("edit", "Edit", blocks, None, submit="Send")
        self.blocks: list[Json] = complete_blocks(check_view(view)["blocks"])

    def block(self, label: str) -> Json:
        return next(b for b in self.blocks if b["type"] == "input" and b["label"]["text"] == label)

    def element(self, label: str) -> Json:
        return self.block(label)["element"]

    def state(self, **typed: Json) -> Json:
        """What Slack sends after these were entered, by label: `to={"value": "jo"}`. The others are as they
        were drawn."""
        entered = {
            self.block(label)["block_id"]: {ACTION_ID: value} for label, value in typed.items()
        }
        state = fill_state(self.blocks, entered)
        assert client_errors(self.blocks, state) == {}
        return state

    def entries(self, **typed: Json) -> Entries:
        return entries_of(self.state(**typed))

    def sent(self, **typed: Json) -> FormSession:
        """The form with this page's answers."""
        entries = self.entries(**typed)
        filled = self.session.enter(entries)
        assert filled.shows(entries)
        return filled


def open_page(schema: Json | None, args: Json, *redact: str) -> Page:
    return Page(FormSession(FormSource(schema, args, redact), MODAL_LIMITS))


def submit(schema: Json | None, args: Json, **typed: Json) -> Json:
    """What runs, after a person typed this on the first page, and turned the others."""
    filled = open_page(schema, args).sent(**typed)
    while not filled.is_last_page:
        filled = Page(filled.at_page(filled.page + 1)).sent()
    return filled.value()


def entries_of(state: Json) -> Entries:
    """Slack's `state.values` as the form reads it."""
    return read_entries({"state": {"values": state}})


def edit_form(review: Review, view: Json | None = None) -> EditForm:
    """The form behind Edit, as it opens or as the view of an open modal says."""
    [action] = review.actions
    target = ActionRef(
        review.id, action.key, action.revision, review.seal(action.key, is_whole=True)
    )
    ref = FormRef("edit", target) if view is None else parse_meta(view).about
    assert isinstance(ref, FormRef)
    return EditForm(review, action, ref, MODAL_LIMITS)


def modal_of(form: ReviewForm, problem: str = "") -> Json:
    """The modal with the form's current page."""
    return check_view(form_view(form.page(problem)))
