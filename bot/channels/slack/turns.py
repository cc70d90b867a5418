"""The Review modal: one action of a review on each page, with its buttons. Pure."""

from __future__ import annotations

from dataclasses import replace

from bot.card import open_of, turns_of
from bot.channels.slack.asking import action_blocks
from bot.channels.slack.ids import Meta
from bot.channels.slack.mentions import Names
from bot.channels.slack.modals import View, modal
from bot.channels.slack.rich import (
    Block,
    actions,
    button,
    context,
    divider,
    line,
    mrkdwn,
    rich_text,
    words,
)
from hitl_core.model import Action, Review


def turn(review: Review, meta: Meta, names: Names) -> View:
    """The turn that `meta` names of what stands at `meta.under`; the last one where there are fewer."""
    keys = _keys(review, meta)
    page = _page(meta, keys)
    waiting = sum(1 for key in keys if (a := review.action(key)) is not None and a.pending)
    wait = "waits" if waiting == 1 else "wait"
    state = f"{waiting} of {len(keys)} still {wait}" if waiting else "All decided"
    drawn: list[Block] = [context(f"at:{page}", mrkdwn(f"{page + 1} of {len(keys)}  ·  {state}"))]
    if keys:
        drawn += action_blocks(review.id, open_of(review, keys[page]), names)
    else:
        drawn = [rich_text("told", line(words("Nothing stands here any more.")))]
    if len(keys) > 1:
        drawn.append(divider("line:turning"))  # or its buttons would look like answers
        drawn.append(_turning(review.id, page, len(keys)))
    return modal("review", "Review", drawn, replace(meta, turn=page), close="Close")


def read_whole(review: Review, meta: Meta) -> Action | None:
    """What that turn shows whole and the policy wants to be read."""
    keys = _keys(review, meta)
    action = review.action(keys[_page(meta, keys)]) if keys else None
    if action is None or not action.pending or not action.config.must_read:
        return None
    return None if open_of(review, action.key).shown.missing else action


def next_page(review: Review, meta: Meta) -> Meta:
    """The next one that waits, from this one on and around; this one where none does."""
    keys = _keys(review, meta)
    for step in range(len(keys)):
        page = (meta.turn + step) % len(keys)
        action = review.action(keys[page])
        if action is not None and action.pending:
            return replace(meta, turn=page)
    return meta


def _keys(review: Review, meta: Meta) -> tuple[str, ...]:
    assert meta.under is not None  # whoever opens it knows where
    return turns_of(review, meta.under)


def _page(meta: Meta, keys: tuple[str, ...]) -> int:
    return max(0, min(meta.turn, len(keys) - 1))


def _turning(review_id: str, page: int, pages: int) -> Block:
    ways = [("turn:back", "◀ Back", page - 1), ("turn:on", "Next ▶", page + 1)]
    buttons = [
        button(action_id, told, f"{review_id}.0.{to}", f"Action {to + 1} of {pages}")
        for action_id, told, to in ways
        if 0 <= to < pages
    ]
    return actions(f"turning:{page}", buttons)
