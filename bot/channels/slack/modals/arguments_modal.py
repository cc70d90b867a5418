"""All arguments of a call, page by page: the modal behind "See all of it". Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ....card import (
    ARGUMENTS_TITLE,
    NO_ARGUMENTS,
    Argument,
    Line,
)
from ....inbox import ArgumentsPage, PartDrawing, split_parts
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
    return split_parts(arguments, _DRAWING)


def _boxes(argument: Argument, text: str) -> list[tuple[Element, int]]:
    return [(box(argument, each), len(each)) for each in split_text(text, CHUNK_SIZE)]


def _size(part: Element) -> int:
    """The approximate size as JSON. Encoding everything again would take longer than all other steps."""
    texts = [str(element["text"]) for element in part["elements"]]
    return 120 * (len(texts) + 1) + sum(
        len(text) + sum(map(text.count, '"\\\n\t')) if text.isascii() else len(json.dumps(text))
        for text in texts
    )


_DRAWING = PartDrawing(section, _boxes, _size, MAX_PAGE_SIZE, MAX_PARTS)
