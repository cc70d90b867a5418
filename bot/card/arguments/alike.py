"""How similar calls differ, in words: for the question of "Approve all", and for equal decisions on many
calls. Pure.

No call that differs is left out: if the differences don't fit, the question is not asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import groupby

from ... import text
from ..model import ActionLine, CallValue, as_name, clip_parts, in_brackets, quote
from .excerpt import cut_label
from .masking import PLACEHOLDER, MaskedArgs, mark_hidden
from .rows import Row

#: The most bytes of arguments that are compared.
MAX_COMPARED = 20_000
#: How many decisions on one tool are enough to compare them; fewer decisions have a line each.
MIN_ALIKE = 4
#: The most weight of one value in a table.
MAX_CELL = 80
#: The most characters of the question.
MAX_QUESTION = 300
#: The most characters of the fact of a call that is the only one of its tool.
MIN_FACT = 20
#: The most characters of the value of an argument that only one call has.
MAX_EXTRA = 40
#: The most different values that are listed. If they differ only in numbers, the first and the last are
#: listed instead.
MAX_LISTED = 4
#: The most calls with the same value that are named by their numbers. More are counted.
MAX_NUMBERED = 3
_DIGITS = re.compile(r"\d+")


def call_values(masked: MaskedArgs, rows: Iterable[Row]) -> tuple[CallValue, ...]:
    """The arguments as cells of a table, each on one line. `rows`: all of them."""
    values: list[CallValue] = []
    for row in rows:
        label, cut_off = cut_label(row.label)
        raw = row.drawing.raw
        value = text.excerpt(raw, MAX_CELL, lines=MAX_CELL)
        visible = mark_hidden(value.text) if masked.has_hidden else value.text
        visible = visible.replace("\n", "⏎").replace("\t", "⇥")
        is_whole = not value.missing + cut_off
        values.append(CallValue(row.path, label, raw, visible, is_whole, PLACEHOLDER in raw))
    return tuple(values)


def group_by_tool(actions: Iterable[ActionLine]) -> dict[str, list[ActionLine]]:
    groups: dict[str, list[ActionLine]] = {}
    for action in actions:
        groups.setdefault(action.name, []).append(action)
    return groups


def common_values(calls: Sequence[Sequence[CallValue]]) -> tuple[CallValue, ...]:
    """The values that all these calls have in common and that are shown in full. Hidden values are left out:
    whether they are equal is not known.
    """
    first, *others = ({value.path: value for value in values} for values in calls)
    return tuple(
        value
        for path, value in first.items()
        if value.is_whole
        and not value.has_hidden
        and all(path in other and other[path].raw == value.raw for other in others)
    )


def differences(actions: Sequence[ActionLine]) -> str:
    """How these calls differ, in at most MAX_QUESTION characters; "" if that does not fit."""
    groups = group_by_tool(actions)
    several = [_group_text(name, group) for name, group in groups.items() if len(group) > 1]
    if not all(several):
        return ""
    single = [group[0] for group in groups.values() if len(group) == 1]
    names = [f"#{one.number} {as_name(one.name)}" for one in single]
    room = MAX_QUESTION - len("; ".join([*several, *names]))
    share = room // len(single) - len(" ()") if single else 0
    if room < 0 or (single and share < MIN_FACT):
        return ""
    facts = [
        f"{name} {in_brackets(clip_parts(one.fact, share))}"
        for name, one in zip(names, single, strict=True)
    ]
    return "; ".join([*several, *facts])


def _group_text(name: str, group: Sequence[ActionLine]) -> str:
    """How the calls of one tool differ; "" if not everything can be said."""
    parts = group_differences({call.number: call.values for call in group})
    if parts is None:
        return ""
    return f"{as_name(name)} ×{len(group)}: {'; '.join(parts) or 'all the same'}"  # noqa: RUF001


def group_differences(calls: Mapping[int, tuple[CallValue, ...] | None]) -> list[str] | None:
    """How these calls of one tool differ, by their numbers; None if not everything can be said."""
    columns: dict[tuple[str, ...], dict[int, CallValue]] = {}
    for number, values in calls.items():
        if values is None:
            return None
        for value in values:
            columns.setdefault(value.path, {})[number] = value
    numbers = list(calls)
    parts: list[str] = []
    extra: dict[tuple[int, ...], list[str]] = {}
    for column in columns.values():
        label = next(iter(column.values())).label
        if 2 * len(column) <= len(calls):
            extra.setdefault(tuple(column), []).append(_extra_text(label, column))
            continue
        if (part := _column_text(label, column)) is None:
            return None
        parts += [part] if part else []
        if without := [number for number in numbers if number not in column]:
            lack = "doesn't" if len(without) == 1 else "don't"
            parts.append(f"{join_numbers(without)} {lack} set {_label(label)}")
    for those, labels in extra.items():
        sets = "sets" if len(those) == 1 else "set"
        parts.append(f"{join_numbers(those)} also {sets} {', '.join(labels)}")
    return parts


def _extra_text(label: str, column: dict[int, CallValue]) -> str:
    """An argument that few calls have: its value too, if one call has it and the value is short."""
    first, *others = column.values()
    is_shown = not others and first.is_whole and not first.has_hidden
    if not is_shown or len(first.text) > MAX_EXTRA:
        return _label(label)
    return f"{_label(label)} {as_name(first.text)}"


def _column_text(label: str, column: dict[int, CallValue]) -> str | None:
    """The values of one argument; "" if they are all the same, None if not all can be shown."""
    if any(value.has_hidden for value in column.values()):
        return f"{_label(label)} ⟦hidden⟧, perhaps different"
    if len({value.raw for value in column.values()}) == 1:
        return ""
    if not all(value.is_whole for value in column.values()):
        return None
    parts: list[str] = []
    numeric = all(_number(value.text) is not None for value in column.values())
    shapes: dict[str, dict[int, CallValue]] = {}
    for number, value in column.items():
        shapes.setdefault("" if numeric else _DIGITS.sub("0", value.text), {})[number] = value
    for alike in shapes.values():
        texts = {value.text for value in alike.values()}
        if len(texts) <= MAX_LISTED:
            parts += _format_counts(alike)
        else:
            ordered = sorted(texts, key=_sort_key)
            parts.append(f"{as_name(ordered[0])} to {as_name(ordered[-1])}")
    return f"{_label(label)} {', '.join(parts)}"


def _format_counts(column: dict[int, CallValue]) -> list[str]:
    counts = Counter(value.text for value in column.values())
    parts: list[str] = []
    for value, count in counts.most_common():
        those = [number for number, one in column.items() if one.text == value]
        which = f"×{count}" if count > MAX_NUMBERED else f"({join_numbers(those)})"  # noqa: RUF001
        parts.append(f"{as_name(value)} {which}")
    return parts


def _label(label: str) -> str:
    """Quoted unless it is one plain word that the schema declares."""
    is_declared = not label.startswith('"')
    return as_name(label) if is_declared else quote(label.removeprefix('"').removesuffix('"'))


def join_numbers(numbers: Iterable[int]) -> str:
    """`#3, #7 to #9`"""
    parts: list[str] = []
    runs = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    for _, run in runs:
        first, *rest = [number for _, number in run]
        parts.append(f"#{first} to #{rest[-1]}" if rest else f"#{first}")
    return ", ".join(parts)


def _number(words: str) -> Decimal | None:
    try:
        number = Decimal(words)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _sort_key(words: str) -> list[Decimal]:
    """The number that the text is, or the numbers in it."""
    number = _number(words)
    return [Decimal(digits) for digits in _DIGITS.findall(words)] if number is None else [number]
