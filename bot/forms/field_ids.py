"""The ids of a form's inputs. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from hitl_core.forms import Field

from ..text import add_marks

MAX_ID = 255
#: What the ids of all fields begin with.
PREFIX = "f:"


class FieldIds:
    """Clients keep what was typed in an input with the same id (docs.slack.dev/reference/views/modal-views).
    So ids change with the revision, the `edition` (which of the tools), and the choice above a field.
    """

    def __init__(self, fields: Iterable[Field], revision: int, edition: str = "") -> None:
        self._revision, self._edition = revision, edition
        self._selected = {
            field.pointer.removesuffix("~"): field.initial or ""
            for field in fields
            if field.redraws
        }

    def of(self, field: Field) -> str:
        """At most MAX_ID characters, all visible."""
        state = [str(self._revision), self._edition]
        if self._selected:
            # A choice has its value's pointer. Its fields are below that pointer, or are the value itself.
            at = field.pointer.removesuffix("~")
            state += [
                index
                for above, index in self._selected.items()
                if at.startswith(f"{above}/") or (at == above and not field.redraws)
            ]
        whole = f"{PREFIX}{field.pointer}#{'.'.join(filter(None, state))}"
        is_plain = whole.isascii() and whole.isprintable()
        if len(whole) <= MAX_ID and (is_plain or add_marks(whole) == whole):
            return whole
        return f"{PREFIX}{hashlib.sha256(whole.encode()).hexdigest()}#{self._revision}"
