"""One field of a form, what is needed to read its answer, and the errors of the answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from hitl_core.errors import HitlError

#: The kind of an input. It says the format of `Field.initial` and of the answer. None and "" always mean an
#: empty input.
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


class Option(NamedTuple):
    """One option. Its answer is its index in `Field.options`, as text."""

    label: str


class Field(NamedTuple):
    """One input.

    - `pointer` (RFC 6901): the value that it edits; "" means all arguments. A choice between branches has the
      value's pointer followed by "~". That is no valid pointer, so the value may have its own field too;
    - `label`: begins with the labels of the outer objects, for example Address, then City;
    - `initial`: what the input shows, see `Kind`;
    - `locked`: the reason why the field can't be edited. Its value is kept unchanged;
    - `beyond_form`: locked only because no input can hold its value: it may be changed in other ways;
    - `hidden`: people must not see the value. The field is locked and has no `initial`;
    - `redraws`: the answer decides which fields follow, so the form must be made again with the answers so
      far;
    - `minimum`, `maximum`: inclusive decimals;
    - `min_items`, `max_items`: the number of choices.

    A limit that `initial` breaks is left out: most user interfaces refuse an input that is outside its own
    limits.
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
    beyond_form: bool = False


#: No value. None means null.
ABSENT: Any = object()

#: What an empty input means: the value is removed; it is null; it is "" or []; it is an error.
OnClear = Literal["leave", "null", "empty", "refuse"]
ItemKind = Literal["text", "integer", "number"]
AnswerFormat = Literal[ItemKind, "option", "options", "lines", "date", "time", "datetime", "json"]


class Slot(NamedTuple):
    """A field, and everything that is needed to read its answer.

    - `path`: leads to the value; () means all arguments;
    - `parent_on_clear`: for each object on the path, what happens to it if it becomes empty;
    - `reads`: how the answer is parsed;
    - `value`: the current value. `is_empty`: the input has nothing to show, because there is no value, or
      because it is null and an empty input means null;
    - `values`: the values of the options, ABSENT for "Not set";
    - `item`: the kind of each line;
    - `fixed_paths`: paths inside a JSON value to values that must not change;
    - `is_branch_choice`: the field chooses a branch. `plan_form` has already switched the arguments to it.
    """

    field: Field
    path: tuple[str, ...] = ()
    on_clear: OnClear = "refuse"
    parent_on_clear: tuple[OnClear, ...] = ()
    reads: AnswerFormat = "json"
    value: Any = ABSENT
    is_empty: bool = True
    values: tuple[Any, ...] = ()
    item: ItemKind = "text"
    fixed_paths: tuple[tuple[str, ...], ...] = ()
    is_branch_choice: bool = False


#: How to choose the input of a value: by its schema; always JSON; no choice, because the slot has one already
#: (a choice between branches); no input, because people must not see the value.
InputNeed = Literal["input", "json", "nothing", "hiding"]


class Found(NamedTuple):
    """A value that gets a field, with its part of the schema."""

    slot: Slot
    schema: dict[str, Any]
    needs: InputNeed


class InputLimits(NamedTuple):
    """The limits of one input: UTF-16 units of text, and number of options. `name_values`: an option that has
    a name of its own shows its value too. `long_texts`: the pointers of texts with an input of several lines.
    """

    max_text: int
    max_options: int
    name_values: bool = False
    long_texts: Collection[str] = ()


class JointError(NamedTuple):
    """One sentence about several fields, given by pointer. The sentence has their labels."""

    pointers: tuple[str, ...]
    sentence: str


class FormErrors(HitlError):
    """The answers are not accepted. `fields` has one message for each field, by pointer; it follows the
    field's label. `joint` has sentences about several fields, `top` sentences about no field.
    """

    def __init__(
        self,
        fields: Mapping[str, str],
        top: tuple[str, ...] = (),
        joint: tuple[JointError, ...] = (),
    ) -> None:
        single = (f"{p or '/'} {m}" for p, m in fields.items())
        super().__init__("; ".join([*single, *(one.sentence for one in joint), *top]))
        self.fields, self.top, self.joint = dict(fields), top, joint


def utf16_length(text: str) -> int:
    """The length in UTF-16 units, as browsers and chat systems count it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
