"""The bot's settings, from environment variables. Public face: what is listed here."""

from .names import required_settings
from .settings import BotRole, Settings

__all__ = ["BotRole", "Settings", "required_settings"]
