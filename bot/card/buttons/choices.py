"""The answers that a question offers: the texts of their buttons, and their values. Pure.

An agent may have chosen the labels and the values. If the buttons alone would not show all of both, the card
lists the answers as A, B, C, and each button begins with its letter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from string import ascii_uppercase
from typing import Any, cast
from unicodedata import east_asian_width

from hitl_core.model import ReviewConfig

from ... import text
from ..arguments import format_value
from ..model import Choice, Line, Quote, Strong, Text, quote

#: Questions with more choices are answered in a form.
MAX_CHOICES = 5
#: The most characters of one label or value in the list.
MAX_SHOWN = 400
#: A phone cuts a button's text after about this many narrow characters.
MAX_BUTTON = 30
LIST_TITLE: Line = (Text("The answers:"),)


def choices_of(config: ReviewConfig) -> tuple[Choice, ...]:
    """The choices in the schema's order; () if there is no question, if the answer is not one of a few
    values, or if two choices would look the same.

    If the tool runs with the answer and the answer is a boolean, Approve and Reject are the answers, so there
    are no choices.
    """
    schema, allowed = config.answer_schema, config.allowed_decisions
    if schema is None or not {"approve", "respond"} & {*allowed}:
        return ()
    if schema.get("type") == "boolean":
        yes, no = Choice("Yes", True, is_own_label=True), Choice("No", False, is_own_label=True)
        return () if "approve" in allowed else (yes, no)
    values = _enum_values(schema)
    if not 0 < len(values) <= MAX_CHOICES:
        return ()
    choices = tuple(Choice(_label(value, name), value) for value, name in values)
    shown = [f"{choice.label}\n{_value(choice)}" for choice in choices]
    return choices if text.are_distinct(shown) else ()


def choice_lines(choices: Sequence[Choice]) -> tuple[Line, ...]:
    """Each answer with its letter, its full label and its value; () if the buttons show all of this."""
    if not _is_listed(choices):
        return ()
    return (LIST_TITLE, *map(_choice_line, ascii_uppercase, choices))


def choice_labels(choices: Sequence[Choice]) -> list[str]:
    """The texts of the buttons. A label from the schema is quoted, our own is not. If several labels begin in
    the same way, these buttons have only their letter.
    """
    if not _is_listed(choices):
        return [one.label if one.is_own_label else quote(one.label) for one in choices]
    starts = [quote(_beginning(one.label, MAX_BUTTON - len("A · “”"))) for one in choices]
    return [
        letter if starts.count(start) > 1 else f"{letter} · {start}"
        for letter, start in zip(ascii_uppercase, starts, strict=False)
    ]


def choice_texts(config: ReviewConfig) -> list[tuple[str, Any]]:
    """For each answer a name, and everything that an agent may have written about it."""
    known = [one for one in choices_of(config) if not one.is_own_label]
    values = _enum_values(config.answer_schema or {})
    return [
        (f"The answer {quote(choice.label)}", [name, value])
        for choice, (value, name) in zip(known, values, strict=False)
    ]


def _is_listed(choices: Sequence[Choice]) -> bool:
    labels = {one.label for one in choices}
    return len(labels) < len(choices) or any(
        not one.is_own_label and (_width(quote(one.label)) > MAX_BUTTON or one.label != _value(one))
        for one in choices
    )


def _choice_line(letter: str, choice: Choice) -> Line:
    line: Line = (Strong(letter), Text("  "), Quote(choice.label))
    value = _value(choice)
    return line if value == choice.label else (*line, Text(" sends "), Quote(value))


def _value(choice: Choice) -> str:
    answer = choice.answer
    raw = (
        format_value(answer) if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    )
    return _fit_line(raw)


def _enum_values(schema: dict[str, Any]) -> list[tuple[Any, str | None]]:
    """The values and titles of an `enum`, or of `oneOf`/`anyOf` branches that each have a `const`."""
    if isinstance(values := schema.get("enum"), list):
        return [(value, None) for value in cast("list[Any]", values)]
    branches = cast("list[Any]", schema.get("oneOf") or schema.get("anyOf") or [])
    known = [cast("dict[str, Any]", one) for one in branches if isinstance(one, dict)]
    if len(known) != len(branches) or not all("const" in one for one in known):
        return []
    return [(one["const"], one.get("title")) for one in known]


def _label(value: Any, name: object) -> str:
    if isinstance(name, str) and name.strip():
        return _fit_line(name.strip())
    return _fit_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _beginning(label: str, room: int) -> str:
    if _width(label) <= room:
        return label
    widths = accumulate(map(_width, label))
    return label[: sum(width < room for width in widths)].rstrip(" ,.;:") + "…"


def _width(words: str) -> int:
    """Chinese, Japanese and Korean characters are twice as wide."""
    if words.isascii():
        return len(words)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in words)


def _fit_line(raw: str) -> str:
    return text.truncate(text.one_line(raw), MAX_SHOWN).text
