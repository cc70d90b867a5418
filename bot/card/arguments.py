"""Arguments as people read them: complete, as an excerpt, or as one line."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple, cast

from hitl_core.jsonschema import find_hidden, mask_args

from .. import text
from .values import Argument, ArgumentsExcerpt

#: A longer value is shown on its own lines.
MAX_INLINE = 160
MAX_LABEL = 60
#: The limits on a card: characters of one value and of one call, lines of one value, arguments of one call.
MAX_VALUE = 1200
MAX_CALL = 2600
MAX_LINES = 18
MAX_ARGUMENTS = 20
#: Characters of a call's main fact, and of one value in it.
MAX_FACT = 120
MAX_FACT_PART = 60
MAX_FACT_LABEL = 30
#: Between the name of a small object and the name of a value in it.
PATH_SEPARATOR = " › "  # noqa: RUF001
#: The most values in a small object, and the pattern of their names.
MAX_PARTS = 6
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
#: White space that would be lost on one line.
_GAP = re.compile("[\n\t]|   ")
#: Shown instead of a hidden value. No text can forge it: ⟦ and ⟧ in a text become marks themselves.
HIDDEN_MARK = "⟦hidden⟧"
#: Half a surrogate pair, which no argument can contain. `text.to_visible` turns it into _MARK.
_PLACEHOLDER = "\ud800"
_MARK = "⟦U+D800⟧"


def argument_label(key: str, schema: dict[str, Any] | None = None) -> str:
    """A key on one line, quoted if it could be misread. The schema's title comes first, as in the form, if it
    says more than the key.
    """
    mistakable = not key or key != key.strip() or key[0] == '"' or PATH_SEPARATOR.strip() in key
    label = key
    if mistakable or not _NAME.fullmatch(key):
        label = text.one_line(f'"{key}"' if mistakable else key)
    declared = _schema_properties(schema).get(key)
    title = cast("dict[str, Any]", declared).get("title") if isinstance(declared, dict) else None
    if not isinstance(title, str) or _normalize_name(title) in ("", _normalize_name(key)):
        return label
    return f"{text.shorten(title.strip(), MAX_LABEL)} ({label})"


class MaskedArgs(NamedTuple):
    """Arguments in the order in which people read them, with placeholders for hidden values. `declared` are
    the schema's properties.
    """

    items: tuple[tuple[str, Any], ...]
    schema: dict[str, Any] | None
    declared: dict[str, Any]
    has_hidden: bool

    def mark_hidden(self, visible: str) -> str:
        return mark_hidden(visible) if self.has_hidden else visible


def mask(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str] = ()
) -> MaskedArgs:
    """What is hidden is found here, once for all that is made of it."""
    masked = hide(args, schema, redact)
    items = ((key, masked[key]) for key in keys_in_order(masked, schema))
    return MaskedArgs(tuple(items), schema, _schema_properties(schema), masked is not args)


def hide(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> dict[str, Any]:
    """The arguments with placeholders for the values that the policy hides, and that the schema calls
    write-only or a password; `args` itself if there are none. `mark_hidden` turns the placeholders into
    HIDDEN_MARK.
    """
    hidden = find_hidden([schema], args, redact) if schema or redact else []
    return mask_args(args, hidden, _PLACEHOLDER) if hidden else args


def mark_hidden(visible: str) -> str:
    """Visible text with HIDDEN_MARK for each placeholder."""
    if _MARK not in visible:
        return visible
    return visible.replace(f'"{_MARK}"', HIDDEN_MARK).replace(_MARK, HIDDEN_MARK)


def drop_hidden(raw: str) -> str:
    return raw.replace(_PLACEHOLDER, "")


def all_arguments(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str] = ()
) -> tuple[Argument, ...]:
    """All arguments in full: in the schema's order, then the others; those that fit on one line first."""
    masked = mask(args, schema, redact)
    return tuple(
        Argument(label, value := masked.mark_hidden(text.to_visible(raw)), _is_block(raw, value))
        for label, raw in _argument_rows(masked)
    )


def arguments_excerpt(masked: MaskedArgs, room: int = MAX_CALL) -> ArgumentsExcerpt:
    """The arguments that fit. Each value is cut by itself, so a long one can't hide a later one."""
    rows = _argument_rows(masked)
    fit: list[Argument] = []
    missing = size = 0
    most = max(MAX_VALUE, room // 3)
    lines = max(MAX_LINES, (room - MAX_CALL) // 40)
    for name, raw in rows[:MAX_ARGUMENTS]:
        label, cut_off = cut_label(name)
        value = text.excerpt(raw, min(most, max(60, room)), lines=lines)
        room -= value.weight
        missing += cut_off + value.missing
        size += len(name) + len(value.text) + value.missing
        visible = masked.mark_hidden(value.text)
        fit.append(Argument(label, visible, _is_block(raw, visible)))
    rest = sum(len(name) + len(raw) for name, raw in rows[MAX_ARGUMENTS:])
    return ArgumentsExcerpt(
        tuple(fit),
        missing + rest,
        len(rows[MAX_ARGUMENTS:]),
        size + rest,
        text.weight("".join(one.label + one.value for one in fit)),
        any(HIDDEN_MARK in argument.value for argument in fit),
    )


def main_fact(masked: MaskedArgs, room: int = MAX_FACT) -> str:
    """The main fact of a call in one line: the first values, without hidden ones."""
    parts: list[str] = []
    rows = sorted(masked.items, key=lambda row: row[0] not in masked.declared and _is_large(row[1]))
    for key, value in rows:
        if room <= 0:
            return " · ".join(parts) + " · …"
        match value:
            case list() | dict():
                count = len(cast("Collection[object]", value))
                value_text = f"{count:,} value{'s' * (count != 1)}"
            case str():
                value_text = _beginning(value)
            case _:
                value_text = _beginning(text.format_value(value))
        parts.append(f"{_short_label(key)}: {masked.mark_hidden(value_text)}")
        room -= len(parts[-1])
    return " · ".join(parts) or "no arguments"


def keys_in_order(args: dict[str, Any], schema: dict[str, Any] | None) -> list[str]:
    """The keys of `args` in the schema's order, then the others."""
    return list(dict.fromkeys([k for k in _schema_properties(schema) if k in args] + list(args)))


def _argument_rows(masked: MaskedArgs) -> list[tuple[str, str]]:
    """Labels and raw values (before `text.to_visible`)."""
    first: list[tuple[str, str]] = []
    last: list[tuple[str, str]] = []
    for key, value in masked.items:
        for row in _value_rows(key, value, masked.schema):
            is_last = key not in masked.declared and _is_block(row[1], "")
            (last if is_last else first).append(row)
    return first + last


def _value_rows(key: str, value: Any, schema: dict[str, Any] | None) -> list[tuple[str, str]]:
    """One row; for a small object one row for each value, as in the form."""
    label = argument_label(key, schema)
    if not _is_small(key, value):
        return [(label, text.format_value(value))]
    within = _schema_properties(schema).get(key)
    within = cast("dict[str, Any]", within) if isinstance(within, dict) else None
    return [
        (f"{label}{PATH_SEPARATOR}{argument_label(name, within)}", text.format_value(value[name]))
        for name in keys_in_order(value, within)
    ]


def _is_small(key: str, value: Any) -> bool:
    """Whether it is an object with a few short values and plain names."""
    if not isinstance(value, dict):
        return False
    inner = cast("dict[str, Any]", value)
    return (
        0 < len(inner) <= MAX_PARTS
        and all(map(_NAME.fullmatch, (key, *inner)))
        and not any(map(_is_large, inner.values()))
    )


def _is_large(value: Any) -> bool:
    """Whether it would be shown on its own lines."""
    if isinstance(value, str):
        return len(value) > MAX_INLINE or _GAP.search(value) is not None
    return isinstance(value, dict | list)


def _normalize_name(name: str) -> str:
    """A name without its spelling style: `orderId`, `order_id` and "Order ID" are the same."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _is_block(raw: str, visible: str) -> bool:
    return max(len(raw), len(visible)) > MAX_INLINE or _GAP.search(raw) is not None


def cut_label(label: str) -> tuple[str, int]:
    """The label as far as it fits, and how many characters are missing."""
    if 5 * len(label) <= MAX_LABEL:  # an entity has at most five characters
        return label, 0
    cut = text.truncate(label, MAX_LABEL)
    return cut.text, cut.missing


def _short_label(key: str) -> str:
    label = argument_label(key)
    return label if len(label) <= MAX_FACT_LABEL else text.clip(label, MAX_FACT_LABEL)


def _beginning(raw: str) -> str:
    short = text.shorten(raw[: 3 * MAX_FACT_PART], MAX_FACT_PART)
    return short if len(raw) <= 3 * MAX_FACT_PART or short.endswith("…") else f"{short}…"


def _schema_properties(schema: dict[str, Any] | None) -> dict[str, Any]:
    properties = (schema or {}).get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
