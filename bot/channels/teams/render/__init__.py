"""Card → Adaptive Card 1.5. Pure.

`card_message` draws cards and thread lines. Words of others are only in text runs, which are literal.
"""

from .card_message import card_message, plain_card, thread_card
from .elements import MAX_BYTES, Json, byte_size
from .pen import MessageLink, Names, place_names

__all__ = [
    "MAX_BYTES",
    "Json",
    "MessageLink",
    "Names",
    "byte_size",
    "card_message",
    "place_names",
    "plain_card",
    "thread_card",
]
