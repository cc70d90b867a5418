"""A message to the operators as an Adaptive Card. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from .elements import Json, adaptive_card, rich_text, text_runs


def announcement_card(lines: Iterable[str]) -> Json:
    """One element a line."""
    return adaptive_card([rich_text(text_runs(line)) for line in lines if line])
