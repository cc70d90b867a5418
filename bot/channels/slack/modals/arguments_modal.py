"""All arguments of a call, page by page: the modal behind "See all of it". Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....card import (
    ARGUMENTS_TITLE,
    CONTINUED,
    LONG_NAME,
    LONG_NAME_VALUE,
    NO_ARGUMENTS,
    PAGE_SIZE,
    Argument,
    Line,
    argument_head,
    warning_lines,
)
from ....inbox import ArgumentsPage
from ....text import split_text
from ..ids import ModalMeta
from ..render import Element, box, button_blocks, context_lines, rich_text, section
from .modal import View, modal

#: A view may have 250 kB of JSON and 100 blocks. Some clients write non-ASCII characters as \uXXXX.
MAX_PAGE_SIZE = 60_000
MAX_PARTS = 1000
#: The prefix of the ids of buttons to other pages.
PAGES = "see_page"
#: The most parts in one block, so that no block is large.
PARTS_PER_BLOCK = 20
CHUNK_SIZE = 2_500
#: A longer name is shown in its own box.
MAX_LABEL = 200


def arguments_view(meta: ModalMeta, page: ArgumentsPage[list[Element]], why: Line = ()) -> View:
    """`why` says why the arguments are shown, if nobody asked for them."""
    parts, starts = page.content, range(0, len(page.content), PARTS_PER_BLOCK)
    blocks = [
        *(context_lines("why", [why]) if why else []),
        rich_text("name", section(page.head)),
        *context_lines("asker", [page.asker] if page.asker else []),
        *(rich_text(f"part:{at}", *parts[at : at + PARTS_PER_BLOCK]) for at in starts),
    ]
    if not parts:
        blocks += context_lines("told", [NO_ARGUMENTS])
    blocks += button_blocks(f"page:{page.number}", page.buttons, PAGES)
    return modal("see", ARGUMENTS_TITLE, blocks, meta, close="Close")


def split_arguments(arguments: Sequence[Argument]) -> list[list[Element]]:
    """The parts of each page."""
    pages: list[list[Element]] = [[]]
    size = characters = 0
    for argument, part in _parts(arguments):
        length = sum(len(one["text"]) for one in part["elements"])
        size += _size(part)
        characters += length
        is_full = size > MAX_PAGE_SIZE or characters > PAGE_SIZE or len(pages[-1]) == MAX_PARTS
        if pages[-1] and is_full:
            pages.append(_page_head(pages[-1], argument))
            size, characters = _size(part), length
        pages[-1].append(part)
    return pages


def _page_head(before: list[Element], argument: Argument | None) -> list[Element]:
    """The head of a new page: the name of the argument whose value continues there. If only the name was left
    on the page before, it moves here.
    """
    if argument is None:
        return []
    if before[-1]["type"] == "rich_text_section":
        return [before.pop()]
    return [section([*argument_head(argument), CONTINUED])]


def _parts(arguments: Sequence[Argument]) -> Iterator[tuple[Argument | None, Element]]:
    """The parts, each with its argument if a new page must repeat the name."""
    for argument in arguments:
        if len(argument.label) > MAX_LABEL:
            parts = [
                *_boxes(replace(argument, style="code"), argument.label),
                section(LONG_NAME_VALUE),
            ]
            parts += _boxes(argument, argument.value)
            head = [*map(section, warning_lines(argument.warnings)), section(LONG_NAME)]
            yield from ((None, part) for part in [*head, *parts])
        elif argument.style == "line":
            yield None, section(argument_head(argument))
        else:
            yield None, section(argument_head(argument))
            yield from ((argument, part) for part in _boxes(argument, argument.value))


def _boxes(argument: Argument, text: str) -> list[Element]:
    return [box(argument, each) for each in split_text(text, CHUNK_SIZE)]


def _size(part: Element) -> int:
    """The approximate size as JSON. Encoding everything again would take longer than all other steps."""
    texts = [str(element["text"]) for element in part["elements"]]
    return 120 * (len(texts) + 1) + sum(
        len(text) + sum(map(text.count, '"\\\n\t')) if text.isascii() else len(json.dumps(text))
        for text in texts
    )
