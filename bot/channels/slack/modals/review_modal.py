"""The Review modal: one action on each page, with its buttons. Pure."""

from __future__ import annotations

from ....card import NOTHING_HERE, REVIEW_TITLE
from ....inbox import ActionPage, ActionRef
from ..ids import ModalMeta, ReviewPage
from ..render import (
    Block,
    Names,
    action_blocks,
    button_blocks,
    context_lines,
    divider,
    place_names,
    rich_text,
    section,
)
from .modal import View, modal


def review_page(page: ActionPage, target: ActionRef, names: Names) -> View:
    """`target`: the review, as the card's button names it."""
    above = [page.state, page.asker] if page.asker else [page.state]
    blocks: list[Block] = context_lines(f"at:{page.number}", above)
    if page.action is not None:
        blocks += action_blocks(page.review_id, page.action, place_names(names))
    else:
        blocks = [rich_text("told", section(NOTHING_HERE))]
    if page.buttons:
        blocks.append(divider("line:page"))  # otherwise its buttons would look like answers
        blocks += button_blocks(f"page:{page.number}", page.buttons, "review_page")
    meta = ModalMeta(target, ReviewPage(page.place, page.number, page.digest))
    return modal("review", REVIEW_TITLE, blocks, meta, close="Close")
