"""What the local Teams sends to the bot: signed activities."""

from .activities import Activities
from .bot_client import ANSWER_TIMEOUT, Answer, BotClient

__all__ = ["ANSWER_TIMEOUT", "Activities", "Answer", "BotClient"]
