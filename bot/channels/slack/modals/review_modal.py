"""The Review modal: one action on each page, with its buttons. Pure."""

from __future__ import annotations

from dataclasses import replace

from hitl_core.model import Review

from ....card import (
    NOTHING_HERE,
    REVIEW_TITLE,
    find_open_action,
    page_keys,
    review_pages,
    review_state,
)
from ..ids import ModalMeta
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


def review_page(review: Review, meta: ModalMeta, names: Names) -> View:
    """Page `meta.review_page` of the actions at `meta.review_place`, or the last page if there are fewer."""
    keys = _action_keys(review, meta)
    page = _page_number(meta, keys)
    waiting = sum(1 for key in keys if (a := review.action(key)) is not None and a.is_pending)
    blocks: list[Block] = context_lines(f"at:{page}", [review_state(page, len(keys), waiting)])
    if keys:
        open_action = find_open_action(review, keys[page])
        blocks += action_blocks(review.id, open_action, place_names(names))
    else:
        blocks = [rich_text("told", section(NOTHING_HERE))]
    if len(keys) > 1:
        blocks.append(divider("line:turning"))  # else its buttons would look like answers
        buttons = review_pages(review.id, page, len(keys))
        blocks += button_blocks(f"turning:{page}", buttons, "turn")
    return modal("review", REVIEW_TITLE, blocks, replace(meta, review_page=page), close="Close")


def key_on_page(review: Review, meta: ModalMeta) -> str | None:
    """The key of the action on that page; None if nothing is shown there any more."""
    keys = _action_keys(review, meta)
    return keys[_page_number(meta, keys)] if keys else None


def next_pending_page(review: Review, meta: ModalMeta) -> ModalMeta:
    """The page of the next pending action, from this page on and around; this page if there is none."""
    keys = _action_keys(review, meta)
    for step in range(len(keys)):
        page = (meta.review_page + step) % len(keys)
        action = review.action(keys[page])
        if action is not None and action.is_pending:
            return replace(meta, review_page=page)
    return meta


def _action_keys(review: Review, meta: ModalMeta) -> tuple[str, ...]:
    assert meta.review_place is not None  # `find_place` set it
    return page_keys(review, meta.review_place)


def _page_number(meta: ModalMeta, keys: tuple[str, ...]) -> int:
    return max(0, min(meta.review_page, len(keys) - 1))
