"""Rows as a person reads them, or as a program does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
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


class Column(NamedTuple):
    """`cut`: it may be shortened where the terminal is too narrow."""

    title: str
    cut: bool = False


class Cell(NamedTuple):
    """`shown` is what a person reads, `exact` what a program gets in its place."""

    shown: str | Paint
    exact: str | None = None


def say_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    """On a terminal a table as wide as that; else lines of values between tabs, uncut and without titles."""
    rows = list(rows)
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(clean(_text(c.shown) if c.exact is None else c.exact) for c in row))
        return
    if not rows:
        return
    texts = [[clean(_text(cell.shown)) for cell in row] for row in rows]
    widths = _fitted(columns, texts, width_of(sys.stdout))
    _say_row([Paint(column.title, DIM) for column in columns], widths)
    for row, cells in zip(texts, rows, strict=True):
        painted = [Paint(t, _colour(cell.shown)) for t, cell in zip(row, cells, strict=True)]
        _say_row(painted, widths)


def _say_row(cells: Sequence[Paint], widths: Sequence[int]) -> None:
    parts: list[str | Paint] = []
    for cell, width in zip(cells, widths, strict=True):
        text = shortened(cell.text, width)
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
