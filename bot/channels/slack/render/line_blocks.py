"""Lists with one line for each entry: decisions, the actions of a card that has too many, and a line in its
thread. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....card import (
    ActionTable,
    Card,
    Layout,
    Line,
    Strong,
    Text,
    ThreadLine,
    list_hint,
    list_line,
    more_line,
    thread_summary,
    thread_text,
)
from .block_kit import (
    COST_OF_BLOCK,
    SPARE_SIZE,
    Block,
    Element,
    divider,
    rich_text,
    text_size,
)
from .markup import context_lines, notification, section, sections
from .mentions import Names, place_names

#: The space for the warning and the votes in one line of the list.
COST_OF_LINE = 50


def decision_block(lines: Sequence[Line], room: int) -> Block:
    """The first lines that fit, then the number of the others."""
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


def list_blocks(card: Card, room: int) -> tuple[Layout, list[Block]]:
    """All actions in a table; if that does not fit, the first ones with a line each."""
    hint = context_lines("how", [list_hint(card)])
    if card.table is not None:
        common = [rich_text("common", *sections(card.table.common))] if card.table.common else []
        more = context_lines("more", [more_line(card.table.more)]) if card.table.more else []
        blocks = [*common, table_block("list", card.table), *more, *hint]
        if text_size(blocks) <= room:
            return "table", blocks
    return "lines", [*_action_lines(card, room), *hint]


def table_block(block_id: str, table: ActionTable) -> Block:
    """Cells are rich_text, which Slack does not interpret
    (docs.slack.dev/reference/block-kit/blocks/table-block).
    """
    head = [_cell((Strong(label),)) for label in table.head]
    rows = [[_cell(cell or (Text(" "),)) for cell in row.cells] for row in table.rows]
    settings = [{"align": "right"}, *({"is_wrapped": True} for _ in head[1:])]
    return {
        "type": "table",
        "block_id": block_id,
        "column_settings": settings,
        "rows": [head, *rows],
    }


def _cell(line: Line) -> Element:
    return {"type": "rich_text", "elements": [section(line)]}


def _action_lines(card: Card, room: int) -> list[Block]:
    """One line for each action: number, tool, main fact."""
    lines: list[Element] = []
    room -= 3 * SPARE_SIZE
    share = max(0, room // len(card.waiting))
    for at, action in enumerate(card.waiting):
        one = section(list_line(action, share - COST_OF_LINE, len))
        room -= text_size([one]) - COST_OF_BLOCK
        if room < 0:
            lines.append(section(more_line(len(card.waiting) - at + card.more_waiting)))
            break
        lines.append(one)
    else:
        if card.more_waiting:
            lines.append(section(more_line(card.more_waiting)))
    return [divider("line:list"), rich_text("list", *lines)]


def thread_message(thread_line: ThreadLine, names: Names) -> dict[str, Any]:
    """One reply in the card's thread: `text` and `blocks`."""
    known = place_names(names)
    return {
        "text": notification(thread_summary(thread_line, known)),
        "blocks": [rich_text("told", section(thread_text(thread_line, known)))],
    }
