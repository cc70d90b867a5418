"""All arguments of a call, page by page: the modal behind "See all of it". Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from ....card import (
    ARGUMENTS_TITLE,
    LONG_NAME,
    LONG_NAME_VALUE,
    NO_ARGUMENTS,
    Argument,
    argument_head,
)
from ....inbox import ArgumentsPage
from ..ids import ModalMeta
from ..render import Element, box, button_blocks, context_lines, rich_text, section
from .modal import View, modal

#: A view may have 250 kB of JSON and 100 blocks. Some clients write non-ASCII characters as \uXXXX.
MAX_PAGE_SIZE = 60_000
MAX_PARTS = 1000
#: The prefix of the ids of the buttons to other pages.
PAGES = "see_page"
#: Parts in one block, so that no block is large.
PARTS_PER_BLOCK = 20
CHUNK_SIZE = 2_500
#: A longer name is shown in its own box.
MAX_LABEL = 200


def arguments_view(meta: ModalMeta, page: ArgumentsPage[list[Element]]) -> View:
    parts, starts = page.content, range(0, len(page.content), PARTS_PER_BLOCK)
    blocks = [
        rich_text("name", section(page.head)),
        *(rich_text(f"part:{at}", *parts[at : at + PARTS_PER_BLOCK]) for at in starts),
    ]
    if not parts:
        blocks += context_lines("told", [NO_ARGUMENTS])
    blocks += button_blocks(f"turn:{page.number}", page.buttons, PAGES)
    return modal("see", ARGUMENTS_TITLE, blocks, meta, close="Close")


def split_arguments(arguments: Sequence[Argument]) -> list[list[Element]]:
    """The parts of each page."""
    pages: list[list[Element]] = [[]]
    free_size = MAX_PAGE_SIZE
    for part in _parts(arguments):
        size = _size(part)
        free_size -= size
        if pages[-1] and (free_size < 0 or len(pages[-1]) == MAX_PARTS):
            pages.append([])
            free_size = MAX_PAGE_SIZE - size
        pages[-1].append(part)
    return pages


def _parts(arguments: Sequence[Argument]) -> list[Element]:
    parts: list[Element] = []
    for argument in arguments:
        if len(argument.label) > MAX_LABEL:
            parts += [section(LONG_NAME), *_boxes(replace(argument, style="code"), argument.label)]
            parts += [section(LONG_NAME_VALUE), *_boxes(argument, argument.value)]
        elif argument.style == "line":
            parts.append(section(argument_head(argument)))
        else:
            parts += [section(argument_head(argument)), *_boxes(argument, argument.value)]
    return parts


def _boxes(argument: Argument, text: str) -> list[Element]:
    starts = range(0, len(text), CHUNK_SIZE)
    return [box(argument, text[at : at + CHUNK_SIZE]) for at in starts]


def _size(part: Element) -> int:
    """The approximate size as JSON. To encode everything again would take longer than all other steps."""
    texts = [str(element["text"]) for element in part["elements"]]
    return 120 * (len(texts) + 1) + sum(
        len(text) + sum(map(text.count, '"\\\n\t')) if text.isascii() else len(json.dumps(text))
        for text in texts
    )
