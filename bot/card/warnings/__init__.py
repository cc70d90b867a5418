"""Finds what is odd in a text that an agent wrote, and says it in plain words: characters that look like
others, that nobody sees or that change the order, and addresses that lead elsewhere. Pure.

A warning is about something that reads like something else. Honest text of any language has no warnings.
"""

from .find import (
    NamedValue,
    Warnings,
    find_in_each,
    find_text,
    find_warnings,
    is_plain,
    odd_values,
)
from .finding import Finding, WarningKind

__all__ = [
    "Finding",
    "NamedValue",
    "WarningKind",
    "Warnings",
    "find_in_each",
    "find_text",
    "find_warnings",
    "is_plain",
    "odd_values",
]
