"""The results as a picture: one bar per figure, and a line at its aim."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from benchmarks.report.figure import Figure
from benchmarks.report.table import aim, number

WIDTH, ROW, TOP = 860, 30, 58
NAMES, BARS, ROOM, WORDS = 16, 330, 300, 640
#: The position of the aim's line, as a part of the width of a full bar.
AIM_LINE = 0.6
COLOURS = {True: "#2e7d4f", False: "#b3402a", None: "#8a8f98"}

STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}"
    ".quiet{fill:#59636e;font-size:12px}.title{font-size:15px;font-weight:600}"
)


def svg(figures: Sequence[Figure]) -> str:
    """Each bar shows the ratio to the floor, relative to its aim; without an aim, relative to 1."""
    height = TOP + ROW * len(figures) + 14
    line = BARS + ROOM * AIM_LINE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>Each figure with its floor and its aim</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff" stroke="#d1d9e0"/>',
            _text(NAMES, 26, "The ratio to the floor, and its aim", "title"),
            _text(line - 4, 46, "aim", "quiet"),
            *(_row(figure, TOP + ROW * index) for index, figure in enumerate(figures)),
            f'<path d="M{line} {TOP - 6}V{height - 12}" stroke="#1f2328" stroke-dasharray="3 3"/>',
            "</svg>",
            "",
        ]
    )


def _row(figure: Figure, y: int) -> str:
    length = min(1.0, figure.ratio / (figure.aim or 1.0) * AIM_LINE) * ROOM
    bar = f'x="{BARS}" y="{y + 3}" width="{length:.1f}" height="16" rx="3"'
    aim_text = f", aim {aim(figure)}" if figure.aim else ""
    values = f"{number(figure.value)} {figure.unit} / {number(figure.floor)} {figure.unit}"
    return "\n".join(
        [
            _text(NAMES, y + 15, figure.name),
            f'<rect {bar} fill="{COLOURS[figure.meets_aim]}"/>',
            _text(WORDS, y + 11, f"ratio {figure.ratio:.2f}{aim_text}"),
            _text(WORDS, y + 24, values, "quiet"),
        ]
    )


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x}" y="{y}"{style}>{escape(words)}</text>'
