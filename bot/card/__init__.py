"""What people are shown of a review at one place: decided once, drawn by every channel. Pure."""

from bot.card.arguments import arguments_of, label_of
from bot.card.choices import choices_of
from bot.card.compose import card, turns_of
from bot.card.history import thread
from bot.card.model import (
    Card,
    Closed,
    Deciders,
    Doubt,
    Elsewhere,
    Ends,
    Listed,
    Next,
    Note,
    Open,
    Origin,
    ThreadLine,
)
from bot.card.opened import open_of
from bot.card.parts import (
    Argument,
    Change,
    Choice,
    Edit,
    People,
    Progress,
    Said,
    Shown,
    Vote,
)
from bot.card.words import as_name, quoted
from hitl_core.review.redaction import redacted

__all__ = [
    "Argument",
    "Card",
    "Change",
    "Choice",
    "Closed",
    "Deciders",
    "Doubt",
    "Edit",
    "Elsewhere",
    "Ends",
    "Listed",
    "Next",
    "Note",
    "Open",
    "Origin",
    "People",
    "Progress",
    "Said",
    "Shown",
    "ThreadLine",
    "Vote",
    "arguments_of",
    "as_name",
    "card",
    "choices_of",
    "label_of",
    "open_of",
    "quoted",
    "redacted",
    "thread",
    "turns_of",
]
