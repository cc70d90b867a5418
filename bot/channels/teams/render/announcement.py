"""A message to the operators as an Adaptive Card. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from .elements import Json, adaptive_card, fitting_card, rich_text, text_runs


def announcement_card(lines: Iterable[str]) -> Json:
    """One element for each line, as many as fit."""
    elements = [rich_text(text_runs(line)) for line in lines if line]
    counts = range(len(elements), -1, -1)
    return fitting_card(adaptive_card(elements[:count]) for count in counts)
