"""Arguments as people read them: uncut, or as far as a card has room."""

from __future__ import annotations

from typing import Any

from bot import text
from bot.card.model import Argument, Shown

#: What is longer stands on lines of its own.
MAX_INLINE = 160
MAX_LABEL = 60
#: The most that one value, all values of a call, and their number may take on a card.
MAX_VALUE = 1200
MAX_CALL = 2600
MAX_ARGUMENTS = 20
MAX_WARNINGS = 5


def label_of(key: str) -> str:
    """A key on one line, quoted where its ends could be missed or mistaken."""
    edges = not key or key != key.strip() or key[0] == '"'
    return text.one_line(f'"{key}"' if edges else key)


def arguments_of(args: dict[str, Any], schema: dict[str, Any] | None) -> tuple[Argument, ...]:
    """All arguments, uncut: in the schema's order, then the others, what fits on a line first."""
    known = len(set((schema or {}).get("properties") or ()) & set(args))
    found: list[Argument] = []
    for key in ordered(args, schema):
        shown = text.visible(text.shown_value(args[key]))
        block = len(shown) > MAX_INLINE or any(gap in shown for gap in ("\n", "\t", "   "))
        found.append(Argument(label_of(key), shown, block))
    return (*found[:known], *sorted(found[known:], key=lambda argument: argument.block))


def shown_of(args: dict[str, Any], schema: dict[str, Any] | None) -> Shown:
    """What fits on a card. Each value is cut by itself, so a long one can't push a later one out of sight."""
    arguments = arguments_of(args, schema)
    room = MAX_CALL
    fit: list[Argument] = []
    missing = 0
    for argument in arguments[:MAX_ARGUMENTS]:
        label = text.cut(argument.label, MAX_LABEL)
        value = text.cut(argument.value, min(MAX_VALUE, max(60, room)))
        room -= text.weight(value.text)
        missing += label.missing + value.missing
        fit.append(Argument(label.text, value.text, argument.block))
    rest = arguments[MAX_ARGUMENTS:]
    missing += sum(len(argument.label) + len(argument.value) for argument in rest)
    return Shown(tuple(fit), missing, len(rest))


def warnings_of(args: dict[str, Any], schema: dict[str, Any] | None) -> tuple[str, ...]:
    """What is odd in the arguments: a sentence each, with the argument's name."""
    found = [
        f"{text.cut(label_of(key), MAX_LABEL).text} {odd}."
        for key in ordered(args, schema)
        if (odd := text.warning(f"{key} {text.shown_value(args[key])}"))
    ]
    more = len(found) - MAX_WARNINGS
    told = [f"So do {more} more arguments."] if more > 1 else found[MAX_WARNINGS:]
    return tuple(found[:MAX_WARNINGS] + told)


def ordered(args: dict[str, Any], schema: dict[str, Any] | None) -> list[str]:
    """The keys in the schema's order, then the others."""
    known = list((schema or {}).get("properties") or {})
    return list(dict.fromkeys([k for k in known if k in args] + list(args)))
