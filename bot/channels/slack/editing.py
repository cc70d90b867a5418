"""The Edit modal: a form over one page or several, made again where a choice decides what follows. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.channels.slack import fields
from bot.channels.slack.fields import Ids
from bot.channels.slack.ids import Meta
from bot.channels.slack.inputs import ACTION_ID, MAX_LABEL, input_block
from bot.channels.slack.modals import View, modal
from bot.channels.slack.rich import (
    Block,
    actions,
    button,
    context,
    line,
    mrkdwn,
    plain,
    rich_text,
    shortened,
    words,
)
from hitl_core.errors import Refused
from hitl_core.forms import Field, FormErrors, SchemaError, make_form
from hitl_core.forms import read_answers as read_form
from hitl_core.model import Action, Arguments, Review, encode
from hitl_core.model.arguments import JsonObject
from hitl_core.review.proposal import check_target

Answers = dict[str, str | None]
#: The block of the choice between tools.
TOOL = "tool"
MAX_TITLE = 24


class Editing:
    """The form of one action with the answers so far, those of all its pages. `meta` says which page.

    Raises Refused where no form can be made.
    """

    def __init__(self, review: Review, action: Action, meta: Meta, answers: Answers) -> None:
        self._review, self._action, self.meta = review, action, meta
        self.tools = _tools_of(review, action)
        self.tool = meta.tool if meta.tool in self.tools else action.name
        self.answers = answers
        self._schema = _schema_of(review, action, self.tool)
        self._args: JsonObject = review.arguments(action.key).parse()
        try:
            made = make_form(self._schema, self._args, answers=answers, redact=action.config.redact)
        except SchemaError as error:
            raise Refused("no_form", f"No form can be made of it: {error}.") from error
        form = fields.shown_form(made)
        self._ids = Ids(form, action.revision, str(self.tools.index(self.tool) or ""))
        self.pages = fields.paged(form)
        self.page = max(0, min(meta.page, len(self.pages) - 1))

    @property
    def is_last(self) -> bool:
        return self.page == len(self.pages) - 1

    def at(self, page: int) -> Editing:
        """The same at another page."""
        return Editing(
            self._review, self._action, replace(self.meta, page=page), dict(self.answers)
        )

    def with_state(self, values: Mapping[str, Any]) -> Editing:
        """With what this page's inputs hold now, and made again by it."""
        here = fields.read_answers(self.pages[self.page], self._ids, values)
        tool = self.meta.tool
        if TOOL in values:
            tool = self.tools[int(values[TOOL][ACTION_ID]["selected_option"]["value"])]
        meta = replace(self.meta, page=self.page, tool=tool)
        return Editing(self._review, self._action, meta, {**self.answers, **here})

    def is_drawn_in(self, values: Mapping[str, Any]) -> bool:
        """Whether a view with these inputs shows this page, and not that of another choice."""
        wanted = {self._ids.of(field) for field in self._here if field.locked is None}
        return wanted == set(values) - {TOOL}

    def arguments(self) -> Arguments:
        """Raises FormErrors, InvalidToolCall."""
        schema, redact = self._schema, self._action.config.redact
        known = {field.pointer for page in self.pages for field in page}
        # Answers to what another choice had asked for don't count.
        answers = {pointer: one for pointer, one in self.answers.items() if pointer in known}
        return encode(read_form(schema, self._args, answers, redact=redact))

    def page_of(self, wrong: FormErrors) -> int | None:
        """The first page with one of these errors that is not this one; None where they stand here."""
        if any(field.pointer in wrong.fields for field in self._here):
            return None
        for number, page in enumerate(self.pages):
            if any(field.pointer in wrong.fields for field in page):
                return number
        return None

    def errors(self, wrong: FormErrors) -> dict[str, str]:
        """Beside the inputs of this page."""
        here = {field.pointer for field in self._here}
        others = {p for page in self.pages for p in (f.pointer for f in page)} - here
        errors = {p: m for p, m in wrong.fields.items() if p not in others}
        return fields.errors_by_block(self._here, self._ids, errors, wrong.top)

    def view(self, told: str = "") -> View:
        """`told` is what is wrong, where no input of this page can say it."""
        name = self._action.request.name
        drawn: list[Block] = [self._about(name)]
        if told:
            drawn.append(rich_text("wrong", line(words(f"⚠ {shortened(told, 500)}", bold=True))))
        if len(self.tools) > 1 and self.page == 0:
            drawn.append(self._tools())
        drawn += [input_block(field, self._ids.of(field)) for field in self._here]
        if len(self.pages) > 1:
            drawn.append(self._turning())
        if any(field.locked and field.initial for field in self._here):
            drawn.append(self._whole())
        submit = self._last_word() if self.is_last else "Next"
        meta = replace(self.meta, page=self.page, tool=None if self.tool == name else self.tool)
        return modal("edit", f"Edit {name}", drawn, meta, submit=submit)

    @property
    def _here(self) -> tuple[Field, ...]:
        return self.pages[self.page]

    def _about(self, name: str) -> Block:
        whole = len(f"Edit {name}") <= MAX_TITLE
        told = (
            "What you send is what runs."
            if self._decides
            else "What you send is what others are asked to approve."
        )
        head = [] if whole else [words(f"{name}   ", bold=True)]
        return rich_text("told", line(*head, words(told)))

    @property
    def _decides(self) -> bool:
        reviewers = self._action.route.reviewers
        return reviewers.quorum == 1 and reviewers.editor_approves

    def _last_word(self) -> str:
        return "Approve edited" if self._decides else "Send edited"

    def _tools(self) -> Block:
        options = [
            {"text": plain(name, MAX_LABEL), "value": str(at)}
            for at, name in enumerate(self.tools[:100])
        ]
        return {
            "type": "input",
            "block_id": TOOL,
            "dispatch_action": True,
            "label": plain("Tool"),
            "hint": plain("The policy allows this call to become another one."),
            "element": {
                "type": "static_select",
                "action_id": ACTION_ID,
                "options": options,
                "initial_option": options[self.tools.index(self.tool)],
            },
        }

    def _turning(self) -> Block:
        at = mrkdwn(f"Page {self.page + 1} of {len(self.pages)}")
        if self.page == 0:
            return context("page", at)
        told = f"◀ Back to page {self.page} of {len(self.pages)}"
        return actions("page", [button("form_back", told, str(self.page - 1), told)])

    def _whole(self) -> Block:
        target = self.meta.target
        value = f"{target.review_id}.{target.action}.{target.revision}"
        told = "Post all of it as a file"
        return actions("file", [button("file", told, value, f"{told}, below the card")])


def _tools_of(review: Review, action: Action) -> list[str]:
    """What the call may become, first what it is."""
    found = dict.fromkeys([action.name, action.request.name])
    for name in sorted(review.tools):
        with contextlib.suppress(Refused):
            check_target(review, action, name)
            found[name] = None
    return list(found)


def _schema_of(review: Review, action: Action, tool: str) -> JsonObject | None:
    if tool == action.request.name:
        return action.config.args_schema
    target = review.tools.get(tool)
    return target.args_schema if target else None
