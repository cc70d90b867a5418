"""What has one line each: decisions, the actions of a card that has too many, a line in its thread. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....card import (
    LIST_HINT,
    ActionLine,
    Card,
    Line,
    ThreadLine,
    list_line,
    more_line,
    thread_summary,
    thread_text,
)
from ....text import fit
from .block_kit import (
    COST_OF_BLOCK,
    SPARE_SIZE,
    Block,
    Element,
    Names,
    divider,
    place_names,
    rich_text,
    text_size,
)
from .markup import context_lines, notification, section

#: In one line of the list: the shortest and longest fact, and what its warning and votes take.
MIN_FACT, MAX_FACT = 20, 80
COST_OF_LINE = 50


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


def action_lines(card: Card, room: int) -> list[Block]:
    """One line for each action: number, tool, main fact."""
    lines: list[Element] = []
    room -= 3 * SPARE_SIZE
    share = max(0, room // len(card.waiting))
    for at, action in enumerate(card.waiting):
        one = section(list_line(action, _fitting_fact(action, share)))
        room -= text_size([one]) - COST_OF_BLOCK
        if room < 0:
            lines.append(section(more_line(len(card.waiting) - at)))
            break
        lines.append(one)
    hint = context_lines("how", [LIST_HINT])
    return [divider("line:list"), rich_text("list", *lines), *hint]


def _fitting_fact(action: ActionLine, share: int) -> str:
    """The fact within its share of the space."""
    room = min(MAX_FACT, share - len(f"{action.number}  {action.name}") - COST_OF_LINE)
    return fit(action.fact, max(MIN_FACT, room))


def thread_message(thread_line: ThreadLine, names: Names) -> dict[str, Any]:
    """One reply in the card's thread: `text` and `blocks`."""
    known = place_names(names)
    return {
        "text": notification(thread_summary(thread_line, known)),
        "blocks": [rich_text("told", section(thread_text(thread_line, known)))],
    }
