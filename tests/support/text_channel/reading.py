"""What people read before they decide: all arguments of a call, and the actions of a card one by one."""

from __future__ import annotations

from collections.abc import Sequence

from bot.card import (
    NO_ARGUMENTS,
    NOTHING_HERE,
    PlaceNames,
    action_text,
    arguments_head,
    arguments_pages,
    find_open_action,
    name_and_arguments,
    page_keys,
    review_pages,
    review_state,
)
from bot.inbox import ActionRef, ReviewAccess
from hitl_core.model import MessageRef, Reviewer

from .network import MAX_LINES, MAX_TEXT, Content
from .render import action_content, argument_lines, join, to_buttons, to_lines


class Reading:
    """Every method raises Refused."""

    def __init__(self, access: ReviewAccess, names: PlaceNames) -> None:
        self._access, self._names = access, names

    async def arguments(self, target: ActionRef, page: int, who: Reviewer) -> Content:
        """Opening the last page counts as having read all arguments."""
        review = (await self._access.load_for_view(target, who)).review
        name, arguments = name_and_arguments(review, target.action)
        pages = _split(argument_lines(arguments) or to_lines([NO_ARGUMENTS]))
        page = min(page, len(pages) - 1)
        if page == len(pages) - 1:
            await self._access.read_marks.record(target, who)
        buttons = arguments_pages(review.id, target.action, target.revision, page, len(pages))
        head = to_lines([arguments_head(name, page, len(pages))])
        return Content((*head, *pages[page]), to_buttons(buttons))

    async def actions(self, review_id: str, page: int, ref: MessageRef, who: Reviewer) -> Content:
        """One action of the card at `ref`. One that is shown completely counts as read."""
        snapshot, place = await self._access.find_place(review_id, ref, who)
        review = snapshot.review
        keys = page_keys(review, place)
        if not keys:
            return Content(to_lines([NOTHING_HERE]))
        page = min(page, len(keys) - 1)
        action = find_open_action(review, keys[page])
        if not action.excerpt.missing:
            await self._access.read_marks.record(
                ActionRef(review_id, action.key, action.revision), who
            )
        pending = sum(one.is_pending for one in review.actions if one.key in keys)
        head = Content(to_lines([review_state(page, len(keys), pending)]))
        foot = Content((), to_buttons(review_pages(review_id, page, len(keys))))
        return join(head, action_content(action_text(review_id, action, self._names)), foot)


def _split(lines: Sequence[str]) -> list[list[str]]:
    """Pages that are within the limits of a message, with room for the head."""
    pages, size = [list[str]()], 0
    for line in lines:
        size += len(line)
        if len(pages[-1]) > MAX_LINES - 10 or size > MAX_TEXT - 500:
            pages.append([])
            size = len(line)
        pages[-1].append(line)
    return pages
