"""Modals: Edit from a Form, the reason of a rejection, an answer, a notice. Pure.

`private_metadata` holds ids only: whoever submits is checked again, and the review is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from bot.channels.slack import fields, ids
from bot.channels.slack.rich import Block, context, line, plain, rich_text, words
from bot.inbox import Target
from bot.text import one_line
from hitl_core.forms import Form

View = dict[str, Any]
MAX_TITLE = 24


def edit(target: Target, name: str, form: Form) -> View:
    """Submitting it approves what stands in it. `form` is a `fields.shown_form`."""
    told = _about("Edit", name, "What you send is what runs.")
    drawn = [told, *(fields.input_block(field, target.revision) for field in form.fields)]
    return modal("edit", f"Edit {name}", drawn, target, submit="Approve edited")


def reason(target: Target, name: str, *, required: bool) -> View:
    told = _about("Reject", name, "The tool does not run.")
    hint = "The agent is told, so that it can do better."
    why = _message("Why?", hint, most=1000, optional=not required)
    return modal("reject", f"Reject {name}", [told, why], target, submit="Reject")


def answer(target: Target, name: str) -> View:
    told = _about("", name, "The tool does not run. The agent gets your text as its result.")
    text = _message("Your answer", "Write it as the tool would.", most=3000, optional=False)
    return modal("respond", "Answer instead", [told, text], target, submit="Answer")


def loading(target: Target) -> View:
    told = context("told", plain("Reading the review…"))
    return modal("loading", "One moment", [told], target)


def notice(text: str) -> View:
    """Takes a modal's place where its answer came too late."""
    block = rich_text("told", line(words(one_line(text))))
    return modal("notice", "Not changed", [block], None, close="Close")


def message_of(values: Mapping[str, Any]) -> str | None:
    return cast(str | None, values.get("message", {}).get(fields.ACTION_ID, {}).get("value"))


def modal(
    callback_id: str,
    title: str,
    blocks: list[Block],
    target: Target | None,
    *,
    submit: str | None = None,
    close: str = "Cancel",
) -> View:
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title, MAX_TITLE),
        "close": plain(close, 24),
        "private_metadata": ids.private_metadata(target),
        "blocks": blocks,
    }
    return {**view, "submit": plain(submit, 24)} if submit else view


def _about(verb: str, name: str, told: str) -> Block:
    """The name stands here where the title has no room for it."""
    whole = verb and len(f"{verb} {name}") <= MAX_TITLE
    return rich_text(
        "told", line(*([] if whole else [words(f"{name}   ", bold=True)]), words(told))
    )


def _message(label: str, hint: str, *, most: int, optional: bool) -> Block:
    return {
        "type": "input",
        "block_id": "message",
        "optional": optional,
        "label": plain(label),
        "hint": plain(hint),
        "element": {
            "type": "plain_text_input",
            "action_id": fields.ACTION_ID,
            "multiline": True,
            "max_length": most,
        },
    }
