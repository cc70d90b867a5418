"""Python clients for tests: act as a person in the local Slack, and read what is shown."""

from .actor import Actor
from .locators import ScriptError

__all__ = ["Actor", "ScriptError"]
