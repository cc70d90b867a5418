"""A JSON value as people read it. Pure. Two different values never look the same."""

from __future__ import annotations

import json
import re
from typing import Any, cast

#: Longer JSON is not indented: with deep nesting, indented JSON is up to 30 times as long.
MAX_INDENTED = 8_000
#: A longer list is not written on one line.
MAX_LIST = 120
#: The first characters of text that Python's `json` accepts.
_JSON = frozenset('-0123456789[{"tfnNI')
#: One word in a list on one line. Everything else in it is JSON.
_WORD = r"[\w@+-][\w@.+/:-]*"
_ITEM = re.compile(_WORD)
#: How a list looks on one line: `a, b, "c d", 1`.
LIST_FORM = re.compile(rf'(?:{_WORD}|"(?:[^"\\]|\\.)*")(?:, (?:{_WORD}|"(?:[^"\\]|\\.)*"))+')


def format_value(value: Any) -> str:
    """Text as it is, a short list on one line, everything else as JSON. Text that looks like one of these,
    and empty text, is quoted.
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value
    if type(value) is int:
        return str(value)  # same as json.dumps, but ten times as fast; a call may have many
    if isinstance(value, list) and (short := _short_list(cast("list[Any]", value))):
        return short
    compact = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(compact) > MAX_INDENTED:
        return compact
    return json.dumps(value, ensure_ascii=False, indent=2)


def _short_list(values: list[Any]) -> str | None:
    """None if it is long, has lists or objects, or fewer than two values: then it needs its brackets."""
    if not 2 <= len(values) <= MAX_LIST // 3 or any(isinstance(one, dict | list) for one in values):
        return None
    if sum(len(one) for one in values if isinstance(one, str)) > MAX_LIST:
        return None
    joined = ", ".join(map(_format_item, values))
    return joined if len(joined) <= MAX_LIST else None


def _format_item(value: Any) -> str:
    if isinstance(value, str) and _ITEM.fullmatch(value) and not _needs_quotes(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _needs_quotes(text: str) -> bool:
    if not (start := text.strip()[:1]):
        return True
    if len(text) <= MAX_LIST and LIST_FORM.fullmatch(text):
        return True
    if start not in _JSON:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not isinstance(value, dict | list) or format_value(value) == text
