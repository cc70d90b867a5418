"""Draws cards, forms, pages and Homes as Adaptive Cards 1.5. Pure.

A `CardBuilder` draws lines, values and buttons for one view. The words of others are only in text runs, which
are literal, and in the titles of buttons and options, where Teams interprets nothing.
"""

from .announcement import announcement_card
from .card_builder import CardBuilder, MessageLink, Names, place_names
from .card_message import card_message, plain_card, thread_card
from .elements import MAX_BYTES, Json, byte_size
from .form_card import form_card
from .form_limits import TEAMS_LIMITS
from .home_card import home_card
from .inputs import read_entries
from .pages import (
    arguments_card,
    message_card,
    notice_card,
    review_card,
    review_fits,
    split_arguments,
)

__all__ = [
    "MAX_BYTES",
    "TEAMS_LIMITS",
    "CardBuilder",
    "Json",
    "MessageLink",
    "Names",
    "announcement_card",
    "arguments_card",
    "byte_size",
    "card_message",
    "form_card",
    "home_card",
    "message_card",
    "notice_card",
    "place_names",
    "plain_card",
    "read_entries",
    "review_card",
    "review_fits",
    "split_arguments",
    "thread_card",
]
