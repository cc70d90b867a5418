"""A field together with everything that is needed to read its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.forms.field import Field

#: No value. None means null.
ABSENT: Any = object()

#: What an empty input means: the value is removed; it is null; it is "" or []; it is an error.
OnClear = Literal["leave", "null", "empty", "refuse"]
ItemKind = Literal["text", "integer", "number"]
AnswerFormat = Literal[ItemKind, "option", "options", "lines", "date", "time", "datetime", "json"]


@dataclass(frozen=True)
class Slot:
    """- `path`: leads to the value; () means all arguments;
    - `parent_on_clear`: for each object on the path, what happens to it if it becomes empty;
    - `reads`: how the answer is parsed;
    - `value`: the current value;
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
    values: tuple[Any, ...] = ()
    item: ItemKind = "text"
    fixed_paths: tuple[tuple[str, ...], ...] = ()
    is_branch_choice: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the input has nothing to show."""
        return self.value is ABSENT or (self.value is None and self.on_clear == "null")


def utf16_length(text: str) -> int:
    """The length in UTF-16 units. Browsers and chat systems count these."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
