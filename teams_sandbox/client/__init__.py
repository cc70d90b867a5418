"""A client for tests and scripts: one person who uses the local Teams."""

from .person import Person, ScriptError, read_text

__all__ = ["Person", "ScriptError", "read_text"]
