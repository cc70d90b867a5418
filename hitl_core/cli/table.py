"""Tables: aligned for a person on a terminal, with tabs for a program in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import NamedTuple

from hitl_core.cli.terminal import DIM, Paint, clean, display_width, say, shorten, terminal_width

_GAP = 2
#: No column gets narrower than this.
_MIN_WIDTH = 6
#: The column widths are measured on this many first rows.
_MEASURE_ROWS = 200


class Column(NamedTuple):
    """`can_cut`: it may be shortened if the terminal is too narrow."""

    title: str
    can_cut: bool = False


class Cell(NamedTuple):
    """`display` is for a person; `exact` is for a program, None if it is the same."""

    display: str | Paint
    exact: str | None = None


def say_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    """Print a table that fits the terminal; in a pipe, print full values separated by tabs, without titles.
    Rows are printed as they come; on a terminal the first ones are collected, because they give the widths.
    """
    rows = iter(rows)
    if not sys.stdout.isatty():
        for row in rows:
            print(
                "\t".join(
                    clean(_plain_text(c.display) if c.exact is None else c.exact) for c in row
                )
            )
        return
    first = list(islice(rows, _MEASURE_ROWS))
    if not first:
        return
    texts = [[clean(_plain_text(cell.display)) for cell in row] for row in first]
    widths = _fit_widths(columns, texts, terminal_width(sys.stdout))
    _say_row(columns, [Paint(column.title, DIM) for column in columns], widths)
    for row in chain(first, rows):
        painted = [Paint(clean(_plain_text(cell.display)), _colour(cell.display)) for cell in row]
        _say_row(columns, painted, widths)


def _say_row(columns: Sequence[Column], cells: Sequence[Paint], widths: Sequence[int]) -> None:
    parts: list[str | Paint] = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        text = shorten(cell.text, width) if column.can_cut else cell.text
        parts += [Paint(text, cell.colour), " " * (width - display_width(text) + _GAP)]
    say(*parts[:-1])


def _fit_widths(columns: Sequence[Column], texts: list[list[str]], room: int) -> list[int]:
    """The width of each column. In a narrow terminal, the widest column that may be cut shrinks first."""
    widths = [
        max([len(column.title), *(display_width(row[n]) for row in texts)])
        for n, column in enumerate(columns)
    ]
    room -= _GAP * (len(columns) - 1)
    while sum(widths) > room:
        cuttable = [
            n for n, column in enumerate(columns) if column.can_cut and widths[n] > _MIN_WIDTH
        ]
        if not cuttable:
            break
        widths[max(cuttable, key=lambda n: widths[n])] -= 1
    return widths


def _plain_text(display: str | Paint) -> str:
    return display if isinstance(display, str) else display.text


def _colour(display: str | Paint) -> str:
    return "" if isinstance(display, str) else display.colour
