"""Small modals: a loading view and a notice. Pure.

`private_metadata` holds only ids: on submit the person is checked again and the review is read again.
"""

from __future__ import annotations

from typing import Any

from ....text import one_line
from ..ids import ModalMeta, private_metadata
from ..render import Block, context, line, plain_text, rich_text, text_element

View = dict[str, Any]
MAX_TITLE = 24


def loading(meta: ModalMeta) -> View:
    block = context("told", plain_text("Reading the review…"))
    return modal("loading", "One moment", [block], meta)


def notice(text: str, title: str = "Not changed") -> View:
    """A modal with one message. It replaces another modal, or opens on top of it."""
    block = rich_text("told", line(text_element(one_line(text))))
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
        "title": plain_text(title, MAX_TITLE),
        "close": plain_text(close, 24),
        "private_metadata": private_metadata(meta),
        "blocks": blocks,
    }
    return {**view, "submit": plain_text(submit, 24)} if submit else view
