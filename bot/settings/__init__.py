"""The bot's settings, from environment variables. Public face: what is listed here."""

from .descriptions import describe_settings
from .names import required_settings
from .settings import BotRole, Settings

__all__ = ["BotRole", "Settings", "describe_settings", "required_settings"]
