"""The names of arguments."""

from __future__ import annotations

import re
from typing import Any, cast

from ... import text

MAX_LABEL = 60
MAX_FACT_LABEL = 30
#: Between the name of a small object and the name of a value in it.
PATH_SEPARATOR = " › "  # noqa: RUF001
#: The key of a plain argument. Any other is quoted, because it could look like our text.
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def argument_label(key: str, schema: dict[str, Any] | None = None) -> str:
    """A key on one line, in quotes if it is no plain name. The schema's title comes first, as in the form, if
    it says more than the key.
    """
    label = key if PLAIN_NAME.fullmatch(key) else quote_key(key)
    declared = schema_properties(schema).get(key)
    title = cast("dict[str, Any]", declared).get("title") if isinstance(declared, dict) else None
    if not isinstance(title, str) or _normalize_name(title) in ("", _normalize_name(key)):
        return label
    return f"{text.shorten(title.strip(), MAX_LABEL)} ({label})"


def quote_key(key: str) -> str:
    return text.one_line(f'"{key}"')


def cut_label(label: str) -> tuple[str, int]:
    """The label as far as it fits, and how many characters are missing."""
    if 5 * len(label) <= MAX_LABEL:  # an entity has at most five characters
        return label, 0
    cut = text.truncate(label, MAX_LABEL)
    return cut.text, cut.missing


def short_label(key: str, schema: dict[str, Any] | None = None) -> str:
    """For one line with several arguments. A quoted key stays quoted when it is cut."""
    label = argument_label(key, schema)
    if len(label) <= MAX_FACT_LABEL:
        return label
    end = '"' if label.endswith('"') else ""
    return text.clip(label, MAX_FACT_LABEL - len(end)) + end


def schema_properties(schema: dict[str, Any] | None) -> dict[str, Any]:
    properties = (schema or {}).get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


def _normalize_name(name: str) -> str:
    """A name without its spelling style: `orderId`, `order_id` and "Order ID" are the same."""
    return re.sub(r"[\s_-]", "", name).casefold()
