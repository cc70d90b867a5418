"""A field, and what is needed to read its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.forms.form import Field

#: Stands where there is no value; None is null.
ABSENT: Any = object()

#: What a cleared input does: its value goes away, is null, is "" or [], stays {} or is an error.
OnClear = Literal["leave", "null", "empty", "refuse"]
ItemKind = Literal["text", "integer", "number"]
AnswerFormat = Literal[ItemKind, "option", "options", "lines", "date", "time", "datetime", "json"]


@dataclass(frozen=True)
class Slot:
    """`names` lead from the arguments to the value; () is all of them. `above` says, for each object on the
    way, what becomes of it when a cleared field leaves it empty. `values` are the options', with ABSENT for
    the one that sets nothing. `item` is what a line holds. `kept` are the ways, inside a JSON value, to what
    must not change. `branch`: the choice of a branch, which the arguments that are given to it have had.
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
    """Its length in UTF-16 units, in which browsers and chat systems count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
