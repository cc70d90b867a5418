"""Python clients for tests: act as a person in the local Slack, and read what is shown."""

from .actor import Actor
from .locators import ScriptError, build_state
from .observer import read_text

__all__ = ["Actor", "ScriptError", "build_state", "read_text"]
