"""Small modals: the reason of a rejection, a text answer, an escalation, a notice. Pure.

`private_metadata` holds only ids: on submit the person is checked again and the review is read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hitl_core.model import Action

from ....text import add_marks, one_line
from ..ids import ModalMeta, private_metadata
from ..render import Block, context, line, plain_text, rich_text, text_element
from .inputs import ACTION_ID

View = dict[str, Any]
MAX_TITLE = 24


def rejection(meta: ModalMeta, action: Action) -> View:
    name, required = action.name, action.config.reject_reason == "required"
    rejections = sum(1 for vote in action.votes if vote.type == "reject")
    intro = _intro(
        "Reject", name, _rejection_effect(action.route.reviewers.reject_quorum - rejections)
    )
    hint = "The agent gets this reason, so that it can do better."
    why = _message_input("Why?", hint, max_length=1000, optional=not required)
    return modal("reject", f"Reject {name}", [intro, why], meta, submit="Reject")


def _rejection_effect(needed: int) -> str:
    """`needed`: how many rejections are still needed, including this one."""
    if needed <= 1:
        return "The tool does not run."
    others = "one other person rejects" if needed == 2 else f"{needed - 1} others reject"
    return f"The tool does not run if {others} it as well."


def text_answer(meta: ModalMeta, action: Action, why: str = "") -> View:
    """`why` is the question as visible text. An earlier answer of another person is prefilled, to agree to
    it.
    """
    intro = _intro(
        "", action.name, f"{_answer_effect(action)} The agent gets your text as its result."
    )
    text = _message_input(
        "Your answer", "Write it as the tool would.", max_length=3000, optional=False
    )
    answers = [vote.message for vote in action.votes if vote.type == "respond"]
    if answers and answers[-1] and add_marks(answers[-1]) == answers[-1]:
        text["element"]["initial_value"] = answers[-1]
    blocks = [intro, *question_blocks(why), text]
    return modal("respond", "Answer instead", blocks, meta, submit="Answer")


def _answer_effect(action: Action) -> str:
    quorum = action.route.reviewers.quorum
    if quorum == 1:
        return "The tool does not run."
    return f"The tool does not run if {quorum} people send the same answer."


def question_blocks(why: str) -> list[Block]:
    return [rich_text("why", line(text_element(why, italic=True)))] if why else []


def escalation(meta: ModalMeta, to: str) -> View:
    text = f"Everything that waits here is also sent to {to}, who can then decide too."
    why = _message_input("Why?", "They read it with the review.", max_length=300, optional=True)
    blocks = [rich_text("told", line(text_element(text))), why]
    return modal("escalate", "Escalate", blocks, meta, submit="Escalate")


def loading(meta: ModalMeta) -> View:
    block = context("told", plain_text("Reading the review…"))
    return modal("loading", "One moment", [block], meta)


def notice(text: str, title: str = "Not changed") -> View:
    """A modal with one message. It replaces another modal, or opens on top of it."""
    block = rich_text("told", line(text_element(one_line(text))))
    return modal("notice", title, [block], None, close="Close")


def read_message(values: Mapping[str, Any]) -> str | None:
    return cast(str | None, values.get("message", {}).get(ACTION_ID, {}).get("value"))


def modal(
    callback_id: str,
    title: str,
    blocks: list[Block],
    meta: ModalMeta | None,
    *,
    submit: str | None = None,
    close: str = "Cancel",
) -> View:
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain_text(title, MAX_TITLE),
        "close": plain_text(close, 24),
        "private_metadata": private_metadata(meta),
        "blocks": blocks,
    }
    return {**view, "submit": plain_text(submit, 24)} if submit else view


def _intro(verb: str, name: str, text: str) -> Block:
    """What the modal does; with the tool's name if it does not fit in the title."""
    whole = verb and len(f"{verb} {name}") <= MAX_TITLE
    return rich_text(
        "told",
        line(*([] if whole else [text_element(f"{name}   ", bold=True)]), text_element(text)),
    )


def _message_input(label: str, hint: str, *, max_length: int, optional: bool) -> Block:
    return {
        "type": "input",
        "block_id": "message",
        "optional": optional,
        "label": plain_text(label),
        "hint": plain_text(hint),
        "element": {
            "type": "plain_text_input",
            "action_id": ACTION_ID,
            "multiline": True,
            "max_length": max_length,
        },
    }
