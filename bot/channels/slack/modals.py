"""Small modals: the reason of a rejection, an answer, a word of why, a notice. Pure.

`private_metadata` holds ids only: whoever submits is checked again, and the review is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from bot.channels.slack.ids import Meta, private_metadata
from bot.channels.slack.inputs import ACTION_ID
from bot.channels.slack.rich import Block, context, line, plain, rich_text, words
from bot.text import marked, one_line
from hitl_core.model import Action

View = dict[str, Any]
MAX_TITLE = 24


def reason(meta: Meta, action: Action) -> View:
    name, required = action.name, action.config.reject_reason == "required"
    voted = sum(1 for vote in action.votes if vote.type == "reject")
    told = _about("Reject", name, _rejected(action.route.reviewers.reject_quorum - voted))
    hint = "The agent is told, so that it can do better."
    why = _message("Why?", hint, most=1000, optional=not required)
    return modal("reject", f"Reject {name}", [told, why], meta, submit="Reject")


def _rejected(wanted: int) -> str:
    """`wanted`: how many rejections it still takes, this one included."""
    if wanted <= 1:
        return "The tool does not run."
    others = "one other person rejects" if wanted == 2 else f"{wanted - 1} others reject"
    return f"The tool does not run if {others} it as well."


def answer(meta: Meta, action: Action, why: str = "") -> View:
    """`why`: the question, fit to be read. Where another person answered already, their text is there to be
    agreed to.
    """
    told = _about("", action.name, f"{_answered(action)} The agent gets your text as its result.")
    text = _message("Your answer", "Write it as the tool would.", most=3000, optional=False)
    answers = [vote.message for vote in action.votes if vote.type == "respond"]
    if answers and answers[-1] and marked(answers[-1]) == answers[-1]:
        text["element"]["initial_value"] = answers[-1]
    drawn = [told, *question(why), text]
    return modal("respond", "Answer instead", drawn, meta, submit="Answer")


def _answered(action: Action) -> str:
    wanted = action.route.reviewers.quorum
    if wanted == 1:
        return "The tool does not run."
    return f"The tool does not run if {wanted} people send the same answer."


def question(why: str) -> list[Block]:
    return [rich_text("why", line(words(why, italic=True)))] if why else []


def passing_on(meta: Meta, to: str) -> View:
    told = f"Everything that waits here goes to {to} as well: they can decide too."
    why = _message("Why?", "They read it with the review.", most=300, optional=True)
    drawn = [rich_text("told", line(words(told))), why]
    return modal("escalate", "Escalate", drawn, meta, submit="Escalate")


def loading(meta: Meta) -> View:
    told = context("told", plain("Reading the review…"))
    return modal("loading", "One moment", [told], meta)


def notice(text: str, title: str = "Not changed") -> View:
    """Takes a modal's place where its answer came too late."""
    block = rich_text("told", line(words(one_line(text))))
    return modal("notice", title, [block], None, close="Close")


def message_of(values: Mapping[str, Any]) -> str | None:
    return cast(str | None, values.get("message", {}).get(ACTION_ID, {}).get("value"))


def modal(
    callback_id: str,
    title: str,
    blocks: list[Block],
    meta: Meta | None,
    *,
    submit: str | None = None,
    close: str = "Cancel",
) -> View:
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title, MAX_TITLE),
        "close": plain(close, 24),
        "private_metadata": private_metadata(meta),
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
            "action_id": ACTION_ID,
            "multiline": True,
            "max_length": most,
        },
    }
