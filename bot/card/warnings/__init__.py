"""Finds what is odd in a text that an agent wrote, and says it in plain words: characters that look like
others, that nobody sees or that change the order, and addresses that lead elsewhere. Pure.

A warning is about something that reads like something else. Honest text of any language has no warnings.
"""

from .find import (
    MAX_FIELD_LABEL,
    NamedValue,
    Warnings,
    call_warnings,
    field_warnings,
    find_text,
    find_warnings,
    is_plain,
    odd_values,
    text_warnings,
    warnings_by_key,
)
from .finding import Finding, WarningKind

__all__ = [
    "MAX_FIELD_LABEL",
    "Finding",
    "NamedValue",
    "WarningKind",
    "Warnings",
    "call_warnings",
    "field_warnings",
    "find_text",
    "find_warnings",
    "is_plain",
    "odd_values",
    "text_warnings",
    "warnings_by_key",
]
