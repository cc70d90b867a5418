"""A modal of Slack, what it can hold, and the small ones: a loading view and a notice. Pure.

`private_metadata` holds only ids: on submit the person is checked again and the review is read again.
"""

from __future__ import annotations

import re
from typing import Any

from ....card import LOADING, LOADING_TITLE, REFUSAL_TITLE, Verbatim
from ....forms import FormLimits
from ....text import one_line
from ..ids import ModalMeta, private_metadata
from ..render import Block, context_lines, plain_texts, rich_text, section

View = dict[str, Any]

#: What one page of a form can have in a modal.
MODAL_LIMITS = FormLimits(
    page_fields=45,  # a view has 100 blocks
    page_bytes=210_000,  # a view has 250 kB of JSON
    text=3000,  # docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element
    options=500,
    title=24,
    option_label=75,
    formats={
        # Slack's own inputs accept less than a schema's format allows.
        "email": re.compile(r"|[!-?A-~]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
        "uri": re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[!-~]*)?"),
    },
)


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
