"""A form in a modal as a person fills it in: checked against Slack's limits, kept and sent by Slack."""

from __future__ import annotations

from typing import Any

from bot.channels.slack.modals.form_state import FormSource, FormState
from bot.channels.slack.modals.inputs import ACTION_ID
from bot.channels.slack.modals.small_modals import modal
from slack_sandbox.validation.blocks import complete_blocks
from slack_sandbox.validation.input_errors import client_errors
from slack_sandbox.validation.states import fill_state
from tests.channels.reading import check_view

Json = dict[str, Any]


class Page:
    """One page of a form, as Slack shows it."""

    def __init__(self, filling: FormState) -> None:
        self.filling = filling
        view = modal("edit", "Edit", filling.blocks() or [], None, submit="Send")
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

    def sent(self, **typed: Json) -> FormState:
        """The form with this page's answers."""
        state = self.state(**typed)
        filled = self.filling.with_values(state)
        assert filled.matches_view(state)
        return filled


def opened(schema: Json | None, args: Json, *redact: str) -> Page:
    return Page(FormState(FormSource(schema, args, redact), {}))


def submitted(schema: Json | None, args: Json, **typed: Json) -> Json:
    """What runs, after a person typed this on the first page, and turned the others."""
    filled = opened(schema, args).sent(**typed)
    while not filled.is_last_page:
        filled = Page(filled.at_page(filled.page + 1)).sent()
    return filled.value()
