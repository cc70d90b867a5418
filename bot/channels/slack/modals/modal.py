"""Builds modals of Slack; also the small ones: a loading view and a notice. Pure.

`private_metadata` holds only ids: on submit the person is checked again and the review is read again.
"""

from __future__ import annotations

from typing import Any

from ....card import LOADING, LOADING_TITLE, REFUSAL_TITLE, Verbatim
from ....text import one_line
from ..ids import ModalMeta, private_metadata
from ..render import Block, context_lines, plain_texts, rich_text, section
from .limits import MODAL_LIMITS

View = dict[str, Any]


def loading(meta: ModalMeta) -> View:
    return modal("loading", LOADING_TITLE, context_lines("told", [LOADING]), meta)


def notice(text: str, title: str = REFUSAL_TITLE) -> View:
    """A modal with one message. It replaces another modal, or opens on top of it."""
    block = rich_text("told", section([Verbatim(one_line(text))]))
    return modal("notice", title, [block], None, close="Close")


def modal(
    callback_id: str,
    title: str,
    blocks: list[Block],
    meta: ModalMeta | None,
    *,
    submit: str | None = None,
    close: str = "Cancel",
) -> View:
    texts = plain_texts([title, close, submit or ""], MODAL_LIMITS.title)
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": texts[0],
        "close": texts[1],
        "private_metadata": private_metadata(meta),
        "blocks": blocks,
    }
    return {**view, "submit": texts[2]} if submit else view
