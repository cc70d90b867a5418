"""One field of a form, and the errors of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hitl_core.errors import HitlError

#: The kind of an input, and the format of `Field.initial` and of an answer. None and "" are always an empty
#: input.
#:
#: text, long_text  the text itself; email, uri: the same, in that format
#: integer, number  a decimal, "12" or "-0.5"; if a number input would round it, the kind is "text"
#: boolean, choice  the index of an option, "0"
#: choices          the indexes of options, in any order, "0,2"
#: lines            a list of texts or numbers, one on each line, "a\nb"; empty lines don't count
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
    """One option. Its answer is its index in `Field.options`, as text."""

    label: str


@dataclass(frozen=True)
class Field:
    """One input.

    - `pointer` (RFC 6901): the value that it edits; "" means all arguments. A choice between branches has the
      value's pointer and then "~", which is no valid pointer, because the value may have its own field too;
    - `label`: begins with the labels of the outer objects, for example Address, then City;
    - `initial`: what the input shows, see `Kind`;
    - `locked`: the reason why the field can't be edited. Its value is kept unchanged;
    - `hidden`: people must not see the value. The field is locked and has no `initial`;
    - `redraws`: the answer decides which fields follow, so the form must be made again with the answers so
      far;
    - `minimum`, `maximum`: inclusive decimals;
    - `min_items`, `max_items`: the number of choices.

    A limit that `initial` breaks is left out: most user interfaces refuse an input outside its own limits.
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


class FormErrors(HitlError):
    """The answers are not accepted. `fields` has one message for each field, by pointer; `top` has the
    messages without a field.
    """

    def __init__(self, fields: Mapping[str, str], top: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join([*(f"{p or '/'} {m}" for p, m in fields.items()), *top]))
        self.fields = dict(fields)
        self.top = top
