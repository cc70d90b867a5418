"""What people read before they decide, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from bot.card import NO_ARGUMENTS, NOTHING_HERE, Argument, PlaceNames, action_text
from bot.inbox import ActionPage, ArgumentsPage

from .network import MAX_LINES, MAX_TEXT, Content
from .render import action_content, argument_lines, join, to_buttons, to_lines


def arguments_content(page: ArgumentsPage[list[str]]) -> Content:
    above = [page.head, page.asker] if page.asker else [page.head]
    return Content((*to_lines(above), *page.content), to_buttons(page.buttons))


def action_page_content(page: ActionPage, names: PlaceNames) -> Content:
    """One action of a card."""
    if page.action is None:
        return Content(to_lines([NOTHING_HERE]))
    action = action_content(action_text(page.review_id, page.action, names))
    return join(Content(to_lines([page.state])), action, Content((), to_buttons(page.buttons)))


def split_arguments(arguments: Sequence[Argument]) -> list[list[str]]:
    """Splits the arguments into pages that fit into a message, with room for the heading."""
    pages, size = [list[str]()], 0
    for line in argument_lines(arguments) or to_lines([NO_ARGUMENTS]):
        size += len(line)
        if len(pages[-1]) > MAX_LINES - 10 or size > MAX_TEXT - 500:
            pages.append([])
            size = len(line)
        pages[-1].append(line)
    return pages
