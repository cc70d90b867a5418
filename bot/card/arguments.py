"""Arguments as people read them: uncut, as far as there is room, or in one line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any, cast

from bot import text
from bot.card import hidden
from bot.card.odd import warning
from bot.card.parts import Argument, Shown

#: What is longer stands on lines of its own.
MAX_INLINE = 160
MAX_LABEL = 60
#: The most that one value, all values of a call, and their number may take on a card.
MAX_VALUE = 1200
MAX_CALL = 2600
MAX_LINES = 18
MAX_ARGUMENTS = 20
MAX_WARNINGS = 5
#: The main fact of a call, and one value in it.
MAX_FACT = 120
MAX_PART = 60
#: What stands between the name of a small object and that of a value in it.
WITHIN = " › "  # noqa: RUF001
#: How many values a small object has at most, and how they are named.
MAX_PARTS = 6
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
#: What would be lost in a line.
_GAP = re.compile("[\n\t]|   ")


def label_of(key: str, schema: dict[str, Any] | None = None) -> str:
    """A key on one line, quoted where its ends could be missed or mistaken; before it what the schema calls
    it, as the form does, where that says more.
    """
    mistakable = not key or key != key.strip() or key[0] == '"' or WITHIN.strip() in key
    label = text.one_line(f'"{key}"' if mistakable else key)
    declared = _known(schema).get(key)
    title = cast("dict[str, Any]", declared).get("title") if isinstance(declared, dict) else None
    if not isinstance(title, str) or _simple(title) in ("", _simple(key)):
        return label
    return f"{text.shortened(title.strip(), MAX_LABEL)} ({label})"


def arguments_of(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str] = ()
) -> tuple[Argument, ...]:
    """All arguments, uncut: in the schema's order, then the others, what fits on a line first."""
    return tuple(
        Argument(label, value := hidden.shown(text.visible(raw)), _is_block(raw, value))
        for label, raw in _laid_out(args, schema, redact)
    )


def shown_of(
    args: dict[str, Any],
    schema: dict[str, Any] | None,
    redact: Collection[str] = (),
    *,
    room: int = MAX_CALL,
) -> Shown:
    """What fits. Each value is cut by itself, so a long one can't push a later one out of sight."""
    laid_out = _laid_out(args, schema, redact)
    fit: list[Argument] = []
    missing = size = 0
    most = max(MAX_VALUE, room // 3)
    lines = max(MAX_LINES, (room - MAX_CALL) // 40)
    for name, raw in laid_out[:MAX_ARGUMENTS]:
        label = text.cut(name, MAX_LABEL)
        value = text.excerpt(raw, min(most, max(60, room)), lines=lines)
        room -= text.weight(value.text)
        missing += label.missing + value.missing
        size += len(name) + len(value.text) + value.missing
        shown = hidden.shown(value.text)
        fit.append(Argument(label.text, shown, _is_block(raw, shown)))
    rest = sum(len(name) + len(raw) for name, raw in laid_out[MAX_ARGUMENTS:])
    return Shown(
        tuple(fit),
        missing + rest,
        len(laid_out[MAX_ARGUMENTS:]),
        size + rest,
        any(hidden.HIDDEN in argument.value for argument in fit),
    )


def fact_of(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str] = ()
) -> str:
    """One line of what it is about: the first values, without what nobody sees."""
    parts: list[str] = []
    room = MAX_FACT
    rows = _ordered(hidden.hide(args, schema, redact), schema)
    known = _known(schema)
    for key, value in sorted(rows, key=lambda row: row[0] not in known and _is_large(row[1])):
        if room <= 0:
            return " · ".join(parts) + " · …"
        match value:
            case list() | dict():
                count = len(cast("Collection[object]", value))
                told = f"{count:,} value{'s' * (count != 1)}"
            case str():
                told = _beginning(value)
            case _:
                told = _beginning(text.shown_value(value))
        parts.append(f"{text.clipped(label_of(key), 30)}: {hidden.shown(told)}")
        room -= len(parts[-1])
    return " · ".join(parts) or "no arguments"


def warnings_of(
    args: dict[str, Any],
    schema: dict[str, Any] | None,
    redact: Collection[str] = (),
    said: Iterable[tuple[str, str]] = (),
) -> tuple[str, ...]:
    """What is odd in the arguments, and in what else is `said` of the call: a sentence each, with a name. Of
    arguments no more are looked at than it takes.
    """
    odd_words = (f"{name} {odd}." for name, words in said if (odd := warning(words)))
    found = list(islice(chain(odd_words, _oddities(args, schema, redact)), MAX_WARNINGS + 2))
    if len(found) > MAX_WARNINGS + 1:
        return (*found[:MAX_WARNINGS], "So do more arguments.")
    return tuple(found)


def _oddities(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> Iterator[str]:
    for key, value in _ordered(hidden.hide(args, schema, redact), schema):
        if odd := warning(hidden.dropped(f"{key} {text.shown_value(value)}")):
            yield f"{text.cut(label_of(key), MAX_LABEL).text} {odd}."


def ordered(args: dict[str, Any], schema: dict[str, Any] | None) -> list[str]:
    """The keys in the schema's order, then the others."""
    return list(dict.fromkeys([k for k in _known(schema) if k in args] + list(args)))


def _ordered(args: dict[str, Any], schema: dict[str, Any] | None) -> list[tuple[str, Any]]:
    return [(key, args[key]) for key in ordered(args, schema)]


def _laid_out(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Collection[str]
) -> list[tuple[str, str]]:
    """Labels, and values as text that isn't visible yet."""
    hiding, known = hidden.hide(args, schema, redact), _known(schema)
    first: list[tuple[str, str]] = []
    last: list[tuple[str, str]] = []
    for key, value in _ordered(hiding, schema):
        for row in _rows(key, value, schema):
            is_last = key not in known and _is_block(row[1], "")
            (last if is_last else first).append(row)
    return first + last


def _rows(key: str, value: Any, schema: dict[str, Any] | None) -> list[tuple[str, str]]:
    """One row; of a small object one for each value, as in the form."""
    label = label_of(key, schema)
    if not _is_small(key, value):
        return [(label, text.shown_value(value))]
    within = _known(schema).get(key)
    within = cast("dict[str, Any]", within) if isinstance(within, dict) else None
    return [
        (f"{label}{WITHIN}{label_of(name, within)}", text.shown_value(part))
        for name, part in _ordered(value, within)
    ]


def _is_small(key: str, value: Any) -> bool:
    """An object of a few values that each fit on a line, and whose names nobody can mistake."""
    if not isinstance(value, dict):
        return False
    inner = cast("dict[str, Any]", value)
    return (
        0 < len(inner) <= MAX_PARTS
        and all(map(_NAME.fullmatch, (key, *inner)))
        and not any(map(_is_large, inner.values()))
    )


def _is_large(value: Any) -> bool:
    """Whether it would be drawn on lines of its own."""
    if isinstance(value, str):
        return len(value) > MAX_INLINE or _GAP.search(value) is not None
    return isinstance(value, dict | list)


def _simple(name: str) -> str:
    """A name without its way of writing: `orderId`, `order_id` and "Order ID" say the same."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _is_block(raw: str, shown: str) -> bool:
    return max(len(raw), len(shown)) > MAX_INLINE or _GAP.search(raw) is not None


def _beginning(raw: str) -> str:
    short = text.shortened(raw[: 3 * MAX_PART], MAX_PART)
    return short if len(raw) <= 3 * MAX_PART or short.endswith("…") else f"{short}…"


def _known(schema: dict[str, Any] | None) -> dict[str, Any]:
    properties = (schema or {}).get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
