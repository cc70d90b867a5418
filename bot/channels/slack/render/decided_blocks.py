"""Decisions on a card, and the lines in its thread. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....card import Line, ThreadLine, more_line, thread_summary, thread_text
from .block_kit import COST_OF_BLOCK, Block, Element, rich_text, text_size
from .markup import make_inert, section
from .mentions import Names, place_names


def decision_block(lines: Sequence[Line], room: int) -> Block:
    """The first ones that fit, then how many more there are."""
    sections: list[Element] = []
    room -= COST_OF_BLOCK
    for at, line in enumerate(lines):
        one = section(line)
        room -= text_size([one]) - COST_OF_BLOCK
        if room < 0:
            sections.append(section(more_line(len(lines) - at)))
            break
        sections.append(one)
    return rich_text("closed", *sections)


def thread_message(thread_line: ThreadLine, names: Names) -> dict[str, Any]:
    """One reply in the card's thread: `text` and `blocks`."""
    known = place_names(names)
    return {
        "text": make_inert(thread_summary(thread_line, known)),
        "blocks": [rich_text("told", section(thread_text(thread_line, known)))],
    }
