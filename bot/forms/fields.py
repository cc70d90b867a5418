"""The fields of a form as a channel shows them, with their ids, split into pages. Pure.

Inputs show invisible characters as marks (⟦U+202E⟧). When the answer is read, marks become those characters
again. So an untouched value does not change, and an edited value keeps what its editor could see.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hitl_core.forms import Field, Form, Option, utf16_length
from hitl_core.jsonschema import parse_pointers

from ..card import MAX_FIELD_LABEL, Line, field_warnings
from ..text import (
    add_marks,
    add_marks_each,
    distinct_labels,
    excerpt,
    labels,
    one_line_each,
    truncate,
)
from .limits import FormLimits

_CUT_MARK = re.compile(r"⟦[\d,]+ more characters?⟧")
_TEXT_KINDS = {"text", "long_text", "email", "uri", "integer", "number", "lines", "json"}
_TYPED_KINDS = ("text", "long_text", "lines", "json")
_TOO_MANY_MARKS = "This has too many invisible characters, so it can't be changed here."
#: The space for the mark of a cut and a number.
_MARK_LENGTH = 30
#: The bytes to reserve for a short input, and for each character of a long one.
_SHORT_BYTES, _CHARACTER_BYTES = 1_000, 3
#: The bytes to reserve for the warnings about one value: a value that people enter may get some.
_WARNING_BYTES = 1_500


def fit_pages(fields: Iterable[Field], limits: FormLimits) -> list[tuple[Field, ...]]:
    """The fields with visible text, in pages. A field is locked if its value with marks does not fit into an
    input. Answers never move a field to another page.
    """
    known = [_fit_kind(field, limits) for field in fields]
    visible = labels([field.label for field in known], limits.label)
    hints = one_line_each([field.hint or "" for field in known])
    options = _unique_options([field.options for field in known], limits)
    initials = add_marks_each([(_is_typed(field) and field.initial) or "" for field in known])
    fitting = [
        _fit_field(
            field._replace(label=label, hint=field.hint and hint, options=several), initial, limits
        )
        for field, label, hint, several, initial in zip(
            known, visible, hints, options, initials, strict=True
        )
    ]
    return _split_pages(fitting, limits)


def _fit_kind(field: Field, limits: FormLimits) -> Field:
    """The field as a text input, if the channel's own input of this kind does not take the value."""
    pattern = limits.formats.get(field.kind) if field.locked is None else None
    fits = pattern is None or pattern.fullmatch(field.initial or "")
    return field if fits else field._replace(kind="text")


def _is_typed(field: Field) -> bool:
    return field.locked is None and field.kind in _TYPED_KINDS


def _fit_field(field: Field, initial: str, limits: FormLimits) -> Field:
    """The field, fitted to the limits. `initial`: what a typed field shows, with marks."""
    if field.locked is not None:
        return field._replace(initial=_locked_text(field, limits))
    if not initial:
        return field
    length = len(initial) if initial.isascii() else utf16_length(initial)
    if length > limits.text:
        field = field._replace(locked=_TOO_MANY_MARKS, beyond_form=True)
        return field._replace(initial=_locked_text(field, limits))
    longest = max(field.max_length or limits.text, length)
    return field._replace(initial=initial, max_length=longest)


def is_cut(fields: Iterable[Field]) -> bool:
    """Whether a fitted field shows only a part of its value. No value can forge that mark."""
    return any(
        field.locked and field.initial and _CUT_MARK.search(field.initial) for field in fields
    )


def shows_all(fields: Iterable[Field]) -> bool:
    """Whether each fitted field shows its whole name and value, apart from hidden ones."""
    known = tuple(fields)
    names = (name for each in known for name in (each.label, *(one.label for one in each.options)))
    return not is_cut(known) and not any(map(_CUT_MARK.search, names))


def means_same(one: Field, other: Field) -> bool:
    """Whether the same answer means the same for both fields."""
    typed = one.kind in _TEXT_KINDS and other.kind in _TEXT_KINDS
    return typed or (one.kind == other.kind and one.options == other.options)


def find_warnings(form: Form) -> dict[str, tuple[Line, ...]]:
    """By pointer, what is odd in the fields: in their values, names and options."""
    shown = form.shown_texts()
    found = _find_warnings(shown)
    return {field.pointer: lines for (field, _), lines in zip(shown, found, strict=True) if lines}


def find_new_warnings(form: Form) -> tuple[Line, ...]:
    """What is odd in the values that people entered, without what was odd before."""
    changed, earlier = form.changed_texts()
    found = _find_warnings([*changed, *earlier])
    known = {
        field.pointer: lines
        for (field, _), lines in zip(earlier, found[len(changed) :], strict=True)
    }
    new = (
        lines
        for (field, _), lines in zip(changed, found, strict=False)
        if lines != known.get(field.pointer)
    )
    return tuple(line for lines in new for line in lines)


def _find_warnings(shown: Sequence[tuple[Field, list[Any]]]) -> list[tuple[Line, ...]]:
    """The warnings about each of these fields, which come with their texts."""
    visible = labels([field.label for field, _ in shown], MAX_FIELD_LABEL)
    paths = parse_pointers([field.pointer for field, _ in shown])
    return field_warnings(visible, paths, [texts for _, texts in shown])


def _split_pages(fields: Sequence[Field], limits: FormLimits) -> list[tuple[Field, ...]]:
    pages: list[tuple[Field, ...]] = [()]
    free_bytes = limits.page_bytes
    for field in fields:
        size = _WARNING_BYTES + _size(field, limits)
        if pages[-1] and (size > free_bytes or len(pages[-1]) == limits.page_fields):
            pages.append(())
            free_bytes = limits.page_bytes
        pages[-1] = (*pages[-1], field)
        free_bytes -= size
    return pages


def _size(field: Field, limits: FormLimits) -> int:
    """The most bytes that the field can take on a page, with everything that people may enter."""
    if field.locked is not None:
        return _SHORT_BYTES + len(json.dumps(field.initial, ensure_ascii=False).encode())
    if field.options:
        label_bytes = sum(len(option.label.encode()) for option in field.options)
        return _SHORT_BYTES + label_bytes + limits.option_bytes * len(field.options)
    if field.kind in ("long_text", "lines", "json"):
        return max(_SHORT_BYTES, _CHARACTER_BYTES * limits.text)
    return _SHORT_BYTES


def _locked_text(field: Field, limits: FormLimits) -> str | None:
    """The value of a locked field as text; for a choice the labels of its options."""
    value = field.initial
    if value and field.options:  # their labels are visible text already
        chosen = ", ".join(field.options[int(at)].label for at in value.split(","))
        return truncate(chosen, limits.locked_text).text
    return value and excerpt(value, limits.locked_text).text


def _unique_options(
    several: Sequence[tuple[Option, ...]], limits: FormLimits
) -> list[tuple[Option, ...]]:
    """The options of each field, with labels that fit and are all different."""
    longest = limits.option_label - _MARK_LENGTH
    return [
        tuple(map(Option, distinct_labels([one.label for one in options], longest)))
        if options
        else ()
        for options in several
    ]


MAX_ID = 255
#: All field ids begin with this.
PREFIX = "f:"


def field_ids(fields: Iterable[Field], revision: int, edition: str = "") -> dict[str, str]:
    """The id of each field's input, by pointer: at most MAX_ID characters, all visible.

    Clients keep the text typed into an input if another input has the same id
    (docs.slack.dev/reference/views/modal-views). So ids change with the revision, with the `edition` (which
    of the tools), and with the choice above a field.
    """
    fields = tuple(fields)
    # A choice has its value's pointer. Its fields are below that pointer, or have the same pointer.
    choices = {f.pointer.removesuffix("~"): f.initial or "" for f in fields if f.redraws}
    ids = dict[str, str]()
    for field in fields:
        state = [str(revision), edition]
        if choices:
            at = field.pointer.removesuffix("~")
            state += [
                index
                for above, index in choices.items()
                if at.startswith(f"{above}/") or (at == above and not field.redraws)
            ]
        id = f"{PREFIX}{field.pointer}#{'.'.join(filter(None, state))}"
        is_plain = id.isascii() and id.isprintable()
        if len(id) > MAX_ID or not (is_plain or add_marks(id) == id):
            id = f"{PREFIX}{hashlib.sha256(id.encode()).hexdigest()}#{revision}"
        ids[field.pointer] = id
    return ids
