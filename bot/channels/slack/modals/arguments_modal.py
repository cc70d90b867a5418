"""All arguments of a call, page by page: the modal behind "See all of it". Pure."""

from __future__ import annotations

import json

from ....card import Argument
from ..ids import ModalMeta
from ..render import (
    Block,
    Element,
    actions,
    button,
    context,
    line,
    plain_text,
    pre,
    rich_text,
    text_element,
)
from .small_modals import View, modal

#: A view may have 250 kB of JSON and 100 blocks. Some clients write non-ASCII characters as \uXXXX.
MAX_PAGE_SIZE = 60_000
MAX_PARTS = 1000
#: The button for the next page.
NEXT_PAGE = "see_page:on"
#: Parts in one block, so that no block is large.
PARTS_PER_BLOCK = 20
CHUNK_SIZE = 2_500
#: A longer name is shown in its own box.
MAX_LABEL = 200


def arguments_view(meta: ModalMeta, name: str, arguments: tuple[Argument, ...]) -> View:
    """Page `meta.page` (from 0), or the last page if there are fewer."""
    pages = _split_pages(_parts(arguments))
    page = max(0, min(meta.page, len(pages) - 1))
    where = f"   Page {page + 1} of {len(pages)}" if len(pages) > 1 else ""
    head = rich_text(
        "name", line(text_element(name, bold=True), *([text_element(where)] if where else []))
    )
    parts = pages[page]
    starts = range(0, len(parts), PARTS_PER_BLOCK)
    blocks = [head, *(rich_text(f"part:{at}", *parts[at : at + PARTS_PER_BLOCK]) for at in starts)]
    if not arguments:
        blocks.append(context("told", plain_text("This call has no arguments.")))
    blocks.append(_navigation(meta, page, len(pages)))
    return modal("see", "All arguments", blocks, meta, close="Close")


def is_last_page(view: View) -> bool:
    """Whether this view shows the last page."""
    return all(one["action_id"] != NEXT_PAGE for one in view["blocks"][-1]["elements"])


def to_text(arguments: tuple[Argument, ...]) -> str:
    """All arguments as the text of a file."""
    return "\n\n".join(f"{one.label}\n{one.value}" for one in arguments) + "\n"


def _parts(arguments: tuple[Argument, ...]) -> list[Element]:
    parts: list[Element] = []
    for argument in arguments:
        label = text_element(argument.label, bold=True)
        if len(argument.label) > MAX_LABEL:
            parts.append(line(text_element("An argument whose name is", italic=True)))
            parts += _boxes(argument.label)
            parts.append(line(text_element("and whose value is", italic=True)))
            parts += _boxes(argument.value)
        elif argument.block:
            parts += [line(label), *_boxes(argument.value)]
        else:
            parts.append(line(label, text_element(f"  {argument.value}")))
    return parts


def _boxes(text: str) -> list[Element]:
    return [pre(text[at : at + CHUNK_SIZE]) for at in range(0, len(text), CHUNK_SIZE)]


def _split_pages(parts: list[Element]) -> list[list[Element]]:
    pages: list[list[Element]] = [[]]
    free_size = MAX_PAGE_SIZE
    for part in parts:
        size = _size(part)
        free_size -= size
        if pages[-1] and (free_size < 0 or len(pages[-1]) == MAX_PARTS):
            pages.append([])
            free_size = MAX_PAGE_SIZE - size
        pages[-1].append(part)
    return pages


def _size(part: Element) -> int:
    """The approximate size as JSON. To encode everything again would take longer than all other steps."""
    texts = [str(element["text"]) for element in part["elements"]]
    return 120 * (len(texts) + 1) + sum(
        len(text) + sum(map(text.count, '"\\\n\t')) if text.isascii() else len(json.dumps(text))
        for text in texts
    )


def _navigation(meta: ModalMeta, page: int, pages: int) -> Block:
    """Buttons for the page before and after, and for a file with all arguments."""
    target = meta.target
    value = f"{target.review_id}.{target.action}.{target.revision}"
    directions = [("see_page:back", "◀ Back", page - 1), (NEXT_PAGE, "Next ▶", page + 1)]
    buttons = [
        button(action_id, text, f"{value}.{to}", f"Page {to + 1} of {pages}")
        for action_id, text, to in directions
        if 0 <= to < pages
    ]
    label = "Post it as a file"
    return actions(
        f"turn:{page}", [*buttons, button("file", label, value, f"{label}, below the card")]
    )
