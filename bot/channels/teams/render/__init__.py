"""Cards, forms, pages and Homes as Adaptive Cards 1.5. Pure.

A `Pen` draws lines, values and buttons for one view. Words of others are only in text runs, which are
literal, and in the titles of buttons and options, where nothing comes alive.
"""

from .announcement import announcement_card
from .card_message import card_message, plain_card, thread_card
from .elements import MAX_BYTES, Json, byte_size
from .form_card import TEAMS_LIMITS, form_card
from .home_card import home_card, home_error_card
from .inputs import read_entries
from .pages import (
    arguments_card,
    message_card,
    notice_card,
    review_card,
    review_fits,
    split_arguments,
)
from .pen import MessageLink, Names, Pen, place_names

__all__ = [
    "MAX_BYTES",
    "TEAMS_LIMITS",
    "Json",
    "MessageLink",
    "Names",
    "Pen",
    "announcement_card",
    "arguments_card",
    "byte_size",
    "card_message",
    "form_card",
    "home_card",
    "home_error_card",
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
