"""What people are shown of a review at one place: decided once, drawn by every channel. Pure."""

from bot.card.arguments import arguments_of
from bot.card.compose import card
from bot.card.model import (
    Argument,
    Card,
    Change,
    Closed,
    Doubt,
    Elsewhere,
    Ends,
    Next,
    Note,
    Open,
    Shown,
)

__all__ = [
    "Argument",
    "Card",
    "Change",
    "Closed",
    "Doubt",
    "Elsewhere",
    "Ends",
    "Next",
    "Note",
    "Open",
    "Shown",
    "arguments_of",
    "card",
]
