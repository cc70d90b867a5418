"""The values of this room: a form, its fields, and what can be wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hitl_core.errors import HitlError

#: What an input is, and how `Field.initial` and an answer look there. None and "" are always an empty input.
#:
#: text, long_text  the text itself; email, uri: the same, of that form
#: integer, number  a decimal, "12" or "-0.5"; too large or too fine for an input of numbers: kind "text"
#: boolean, choice  the index of an option, "0"
#: choices          the indexes of options, in any order, "0,2"
#: lines            a list of texts or numbers, one a line, "a\nb"; lines that are empty don't count
#: date             "2026-11-21"
#: time             "14:30", in the zone that the hint names
#: datetime         seconds since 1970 in ten digits, "1795271400"
#: json             JSON text
Kind = Literal[
    "text",
    "long_text",
    "email",
    "uri",
    "integer",
    "number",
    "boolean",
    "choice",
    "choices",
    "lines",
    "date",
    "time",
    "datetime",
    "json",
]


@dataclass(frozen=True)
class Option:
    """One thing to choose. Its answer is its index in `Field.options`, as text."""

    label: str


@dataclass(frozen=True)
class Field:
    """One input.

    `pointer` (RFC 6901) says what it edits; "" is the whole arguments. A choice between forms of a value has
    the value's pointer and a "~" behind it, which no pointer can have: the value's own field may follow.
    `label` names the objects around it first: Address, City. `initial` is what the input shows, see `Kind`.
    `locked` is the reason why the field can't be edited here; its value is then kept as it is.
    `hidden`: nobody may see the value. Such a field is locked and has no `initial`.
    `redraws`: an answer here decides which fields follow, so the form is made again with the answers so far.
    Limits that `initial` breaks are left out, because an input that starts outside its own limits is refused
    by most user interfaces. `minimum` and `maximum` are inclusive decimals, `min_items` and `max_items` how
    many choices may be made.
    """

    pointer: str
    kind: Kind
    label: str
    hint: str | None = None
    required: bool = False
    locked: str | None = None
    initial: str | None = None
    options: tuple[Option, ...] = ()
    minimum: str | None = None
    maximum: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    hidden: bool = False
    redraws: bool = False


@dataclass(frozen=True)
class Form:
    fields: tuple[Field, ...]


class FormErrors(HitlError):
    """Answers that are not accepted: one message a field, by pointer; `top` has no field."""

    def __init__(self, fields: Mapping[str, str], top: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join([*(f"{p or '/'} {m}" for p, m in fields.items()), *top]))
        self.fields = dict(fields)
        self.top = top
