"""What a person does in Teams: presses a button of a card, writes a message, or accepts a file."""

from .consents import FILE_INFO, Consents, consent_of
from .messages import Messages
from .presses import Notice, Presses, PressResult, read_answer

__all__ = [
    "FILE_INFO",
    "Consents",
    "Messages",
    "Notice",
    "PressResult",
    "Presses",
    "consent_of",
    "read_answer",
]
