"""A person in front of the local Teams, for tests and scripts."""

from .person import Person, ScriptError, read_text

__all__ = ["Person", "ScriptError", "read_text"]
