"""Rows as a person reads them, or as a program does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import NamedTuple

from hitl_core.cli.terminal import (
    DIM,
    Paint,
    clean,
    columns_of,
    say,
    shortened,
    width_of,
)

_GAP = 2
#: No column is cut to less.
_LEAST = 6
#: How many rows tell the widths of all.
_MEASURED = 200


class Column(NamedTuple):
    """`cut`: it may be shortened where the terminal is too narrow."""

    title: str
    cut: bool = False


class Cell(NamedTuple):
    """`shown` is what a person reads, `exact` what a program gets in its place."""

    shown: str | Paint
    exact: str | None = None


def say_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    """On a terminal a table as wide as that; else lines of values between tabs, uncut and without titles.
    Each row is said as it comes, on a terminal after the first few, which tell how wide the columns are.
    """
    rows = iter(rows)
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(clean(_text(c.shown) if c.exact is None else c.exact) for c in row))
        return
    first = list(islice(rows, _MEASURED))
    if not first:
        return
    texts = [[clean(_text(cell.shown)) for cell in row] for row in first]
    widths = _fitted(columns, texts, width_of(sys.stdout))
    _say_row(columns, [Paint(column.title, DIM) for column in columns], widths)
    for row in chain(first, rows):
        painted = [Paint(clean(_text(cell.shown)), _colour(cell.shown)) for cell in row]
        _say_row(columns, painted, widths)


def _say_row(columns: Sequence[Column], cells: Sequence[Paint], widths: Sequence[int]) -> None:
    parts: list[str | Paint] = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        text = shortened(cell.text, width) if column.cut else cell.text
        parts += [Paint(text, cell.colour), " " * (width - columns_of(text) + _GAP)]
    say(*parts[:-1])


def _fitted(columns: Sequence[Column], texts: list[list[str]], room: int) -> list[int]:
    """How wide each column is: what may be cut gives way, the widest first."""
    widths = [
        max([len(column.title), *(columns_of(row[n]) for row in texts)])
        for n, column in enumerate(columns)
    ]
    room -= _GAP * (len(columns) - 1)
    while sum(widths) > room:
        cuttable = [n for n, column in enumerate(columns) if column.cut and widths[n] > _LEAST]
        if not cuttable:
            break
        widths[max(cuttable, key=lambda n: widths[n])] -= 1
    return widths


def _text(shown: str | Paint) -> str:
    return shown if isinstance(shown, str) else shown.text


def _colour(shown: str | Paint) -> str:
    return "" if isinstance(shown, str) else shown.colour
