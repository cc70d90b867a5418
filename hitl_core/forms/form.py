"""The values of this room: a form, its fields, and what can be wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hitl_core.errors import HitlError

Kind = Literal["text", "long_text", "integer", "number", "boolean", "choice", "json"]


@dataclass(frozen=True)
class Option:
    """One thing to choose. Its answer is its index in `Field.options`, as text."""

    label: str


@dataclass(frozen=True)
class Field:
    """One input.

    `pointer` (RFC 6901) says what it edits; "" is the whole arguments.
    `initial` is what the input shows; None is empty. For boolean and choice: an option's index.
    `locked` is the reason why the field can't be edited here; its value is then kept as it is.
    `minimum` and `maximum` are inclusive decimals; limits that `initial` breaks are left out,
    because an input that starts outside its own limits is refused by most user interfaces.
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


@dataclass(frozen=True)
class Form:
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class ArgError:
    """What is wrong with the value at `pointer`, to read after its name: "must be at most 500"."""

    pointer: str
    message: str


class FormErrors(HitlError):
    """Answers that are not accepted: one message a field, by pointer; `top` has no field."""

    def __init__(self, fields: Mapping[str, str], top: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join([*(f"{p or '/'} {m}" for p, m in fields.items()), *top]))
        self.fields = dict(fields)
        self.top = top


class SchemaError(HitlError):
    """A schema that can't be used: not valid, too big, a remote $ref, a pattern that could hang."""


class PatternError(SchemaError):
    """A regular expression that is not valid, or that could take very long."""
