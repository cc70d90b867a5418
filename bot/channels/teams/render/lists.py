"""Lists with one line for each entry: decisions, and the actions of a card that has too many. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ....card import (
    ActionTable,
    Card,
    Layout,
    Line,
    Strong,
    Text,
    list_hint,
    list_line,
    more_line,
)
from .card_builder import CardBuilder
from .elements import Json, byte_size, total_size

#: The space reserved for "and 5 more".
SPARE_SIZE = 300
#: The bytes of the markup, the warning and the votes in one line of the list.
LINE_SIZE = 250


def fitting_lines(lines: Sequence[Line], builder: CardBuilder, room: int) -> list[Json]:
    """The first lines that fit, each in its own element, then the number of the others."""
    elements: list[Json] = []
    room -= SPARE_SIZE
    for at, line in enumerate(lines):
        element = builder.line(line)
        room -= total_size([element])
        if room < 0:
            return [*elements, builder.line(more_line(len(lines) - at))]
        elements.append(element)
    return elements


def list_elements(card: Card, builder: CardBuilder, room: int) -> tuple[Layout, list[Json]]:
    """All actions in a table; if that does not fit, the first ones with a line each."""
    hint = builder.small_lines([list_hint(card)])
    if card.table is not None:
        common = builder.lines(card.table.common)
        more = builder.small_lines([more_line(card.table.more)]) if card.table.more else []
        elements = [*common, _table(card.table, builder), *more, *hint]
        if total_size(elements) <= room:
            return "table", elements
    return "lines", [*_action_lines(card, builder, room - total_size(hint)), *hint]


def _table(table: ActionTable, builder: CardBuilder) -> Json:
    """The first column has the numbers; the last one, with most of the space, has the differences."""
    head: list[Line] = [(Strong(label),) for label in table.head]
    rows = [head, *(list(row.cells) for row in table.rows)]
    weights = [1, *(3 for _ in head[2:]), *([4] if len(head) > 1 else [])]
    return {
        "type": "Table",
        "columns": [{"width": weight} for weight in weights],
        "rows": [
            {"type": "TableRow", "cells": [_cell(cell, builder) for cell in cells]}
            for cells in rows
        ],
        "firstRowAsHeader": True,
        "showGridLines": True,
    }


def _cell(line: Line, builder: CardBuilder) -> Json:
    return {"type": "TableCell", "items": [builder.line(line or (Text(" "),))]}


def _action_lines(card: Card, builder: CardBuilder, room: int) -> list[Json]:
    """One line for each action: number, tool, main fact."""
    share = max(0, (room - SPARE_SIZE) // len(card.waiting))
    lines = [list_line(one, share - LINE_SIZE, byte_size) for one in card.waiting]
    if card.more_waiting:
        lines.append(more_line(card.more_waiting))
    return fitting_lines(lines, builder, room)
