"""The results as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report.figure import Figure

MARKS = {True: "✓", False: "✗", None: " "}


def table(figures: Sequence[Figure]) -> str:
    """One line per figure."""
    rows = [("", "figure", "value", "floor", "ratio", "aim"), *map(_row, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        MARKS[figure.meets_aim],
        figure.name,
        f"{number(figure.value)} {figure.unit}",
        f"{number(figure.floor)} {figure.unit}",
        f"{figure.ratio:.2f}",
        aim(figure),
    )


def number(value: float) -> str:
    """With three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def aim(figure: Figure) -> str:
    if figure.aim is None:
        return ""
    return f"{'≤' if figure.better == 'lower' else '≥'} {figure.aim:g}"
