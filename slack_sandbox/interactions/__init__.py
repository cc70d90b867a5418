"""What people do in the local Slack: clicks, modals, slash commands, response URLs."""

from .interactions import Interactions
from .response_urls import ResponseUrls
from .slash_commands import SlashCommands
from .triggers import LIFETIME, Triggers

__all__ = ["LIFETIME", "Interactions", "ResponseUrls", "SlashCommands", "Triggers"]
