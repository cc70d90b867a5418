"""What a person does in Teams: presses a button of a card, or writes a message."""

from .messages import Messages
from .presses import Notice, Presses, PressResult, read_answer

__all__ = ["Messages", "Notice", "PressResult", "Presses", "read_answer"]
