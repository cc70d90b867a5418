"""Which buttons a card has, their labels, and the answers to a question that people can press. Pure."""

from .buttons import (
    READ_LABEL,
    REVIEW_LABEL,
    SEE_LABEL,
    action_buttons,
    card_buttons,
    doubt_buttons,
    page_buttons,
    reading_buttons,
)
from .choices import choice_lines, choice_texts, choices_of

__all__ = [
    "READ_LABEL",
    "REVIEW_LABEL",
    "SEE_LABEL",
    "action_buttons",
    "card_buttons",
    "choice_lines",
    "choice_texts",
    "choices_of",
    "doubt_buttons",
    "page_buttons",
    "reading_buttons",
]
