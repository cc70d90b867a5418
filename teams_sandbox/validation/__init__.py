"""Checks cards and inputs as strictly as Teams does, and that Teams shows a card's texts exactly as they are
written.
"""

from .card import CardError, check_card, elements_in
from .inputs import Entry, InputError, check_inputs, read_press

__all__ = [
    "CardError",
    "Entry",
    "InputError",
    "check_card",
    "check_inputs",
    "elements_in",
    "read_press",
]
