"""Small modals: a loading view and a notice. Pure.

`private_metadata` holds only ids: on submit the person is checked again and the review is read again.
"""

from __future__ import annotations

from typing import Any

from ....card import LOADING, LOADING_TITLE, REFUSAL_TITLE, Verbatim
from ....text import one_line
from ..ids import ModalMeta, private_metadata
from ..modal_limits import MODAL_LIMITS
from ..render import Block, context_lines, plain_text, rich_text, section

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
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain_text(title, MODAL_LIMITS.title),
        "close": plain_text(close, 24),
        "private_metadata": private_metadata(meta),
        "blocks": blocks,
    }
    return {**view, "submit": plain_text(submit, 24)} if submit else view
