"""Arguments as people read them: uncut, as far as there is room, or in one line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
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
#: What would be lost in a line.
_GAP = re.compile("[\n\t]|   ")


def label_of(key: str, schema: dict[str, Any] | None = None) -> str:
    """A key on one line, quoted where its ends could be missed or mistaken; before it what the schema calls
    it, as the form does.
    """
    edges = not key or key != key.strip() or key[0] == '"'
    label = text.one_line(f'"{key}"' if edges else key)
    declared = _known(schema).get(key)
    title = cast("dict[str, Any]", declared).get("title") if isinstance(declared, dict) else None
    if not isinstance(title, str) or title.strip() in ("", key):
        return label
    return f"{text.shortened(title.strip(), MAX_LABEL)} ({label})"


def arguments_of(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Iterable[str] = ()
) -> tuple[Argument, ...]:
    """All arguments, uncut: in the schema's order, then the others, what fits on a line first."""
    return tuple(
        Argument(
            label_of(key, schema), value := hidden.shown(text.visible(raw)), _is_block(raw, value)
        )
        for key, raw in _laid_out(args, schema, redact)
    )


def shown_of(
    args: dict[str, Any],
    schema: dict[str, Any] | None,
    redact: Iterable[str] = (),
    *,
    room: int = MAX_CALL,
) -> Shown:
    """What fits. Each value is cut by itself, so a long one can't push a later one out of sight."""
    laid_out = _laid_out(args, schema, redact)
    fit: list[Argument] = []
    missing = size = 0
    most = max(MAX_VALUE, room // 3)
    lines = max(MAX_LINES, (room - MAX_CALL) // 40)
    for key, raw in laid_out[:MAX_ARGUMENTS]:
        name = label_of(key, schema)
        label = text.cut(name, MAX_LABEL)
        value = text.excerpt(raw, min(most, max(60, room)), lines=lines)
        room -= text.weight(value.text)
        missing += label.missing + value.missing
        size += len(name) + len(value.text) + value.missing
        shown = hidden.shown(value.text)
        fit.append(Argument(label.text, shown, _is_block(raw, shown)))
    rest = sum(len(key) + len(raw) for key, raw in laid_out[MAX_ARGUMENTS:])
    return Shown(
        tuple(fit),
        missing + rest,
        len(laid_out[MAX_ARGUMENTS:]),
        size + rest,
        any(hidden.HIDDEN in argument.value for argument in fit),
    )


def fact_of(args: dict[str, Any], schema: dict[str, Any] | None, redact: Iterable[str] = ()) -> str:
    """One line of what it is about: the first values, without what nobody sees."""
    parts: list[str] = []
    room = MAX_FACT
    for key, value in _ordered(hidden.hide(args, hidden.pointers(redact, schema)), schema):
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
    redact: Iterable[str] = (),
    said: Iterable[tuple[str, str]] = (),
) -> tuple[str, ...]:
    """What is odd in the arguments, and in what else is `said` of the call: a sentence each, with a name."""
    found = [f"{name} {odd}." for name, words in said if (odd := warning(words))]
    for key, value in _ordered(hidden.hide(args, hidden.pointers(redact, schema)), schema):
        if odd := warning(hidden.dropped(f"{key} {text.shown_value(value)}")):
            found.append(f"{text.cut(label_of(key), MAX_LABEL).text} {odd}.")
    more = len(found) - MAX_WARNINGS
    told = [f"So do {more} more arguments."] if more > 1 else found[MAX_WARNINGS:]
    return tuple(found[:MAX_WARNINGS] + told)


def ordered(args: dict[str, Any], schema: dict[str, Any] | None) -> list[str]:
    """The keys in the schema's order, then the others."""
    return list(dict.fromkeys([k for k in _known(schema) if k in args] + list(args)))


def _ordered(args: dict[str, Any], schema: dict[str, Any] | None) -> list[tuple[str, Any]]:
    return [(key, args[key]) for key in ordered(args, schema)]


def _laid_out(
    args: dict[str, Any], schema: dict[str, Any] | None, redact: Iterable[str]
) -> list[tuple[str, str]]:
    """Keys, and values as text that isn't visible yet."""
    hiding = hidden.hide(args, hidden.pointers(redact, schema))
    rows = [(key, text.shown_value(value)) for key, value in _ordered(hiding, schema)]
    known = len(_known(schema).keys() & args.keys())
    return rows[:known] + sorted(rows[known:], key=lambda row: _is_block(row[1], ""))


def _is_block(raw: str, shown: str) -> bool:
    return max(len(raw), len(shown)) > MAX_INLINE or _GAP.search(raw) is not None


def _beginning(raw: str) -> str:
    short = text.shortened(raw[: 3 * MAX_PART], MAX_PART)
    return short if len(raw) <= 3 * MAX_PART or short.endswith("…") else f"{short}…"


def _known(schema: dict[str, Any] | None) -> dict[str, Any]:
    properties = (schema or {}).get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
