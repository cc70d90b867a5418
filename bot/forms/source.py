"""What a form is made from."""

from __future__ import annotations

from dataclasses import dataclass

from hitl_core.model import JsonObject


@dataclass(frozen=True)
class FormSource:
    """The schema and values of a form. `revision` and `edition` distinguish its inputs from those of another
    form in the same window. `name_values`, `fills_blanks`, `long_texts`: see `make_form`.
    """

    schema: JsonObject | None
    args: JsonObject
    redact: tuple[str, ...] = ()
    revision: int = 1
    edition: str = ""
    name_values: bool = False
    fills_blanks: bool = False
    long_texts: tuple[str, ...] = ()
