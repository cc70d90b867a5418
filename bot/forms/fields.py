"""The fields of a form as people see them in a channel, with their ids, and on which pages. Pure.

Inputs show invisible characters as marks (⟦U+202E⟧), which are read back as those characters. So an untouched
value does not change, and an edited value keeps what its editor could see.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hitl_core.forms import Field, Form, Option
from hitl_core.jsonschema import parse_pointers

from ..card import MAX_FIELD_LABEL, Line, field_warnings
from ..text import add_marks, excerpt, labels, one_line
from .page import FormLimits

_CUT_MARK = re.compile(r"⟦[\d,]+ more characters?⟧")
_TYPED_KINDS = ("text", "long_text", "lines", "json")
_TOO_MANY_MARKS = "This has too many invisible characters, so it can't be changed here."
#: The room for the mark of a cut and a number.
_MARK_LENGTH = 30
#: The bytes to reserve for a short input, and for each character of a long one.
_SHORT_BYTES, _CHARACTER_BYTES = 1_000, 3
#: The bytes to reserve for the warnings about one value: what people enter may have some.
_WARNING_BYTES = 1_500


def fit_fields(fields: Iterable[Field], limits: FormLimits) -> dict[str, Field]:
    """The fields with visible text, by pointer. One whose value with marks does not fit into an input is
    locked.
    """
    known = tuple(fields)
    visible = labels((field.label for field in known), limits.label)
    return {
        field.pointer: _fit_field(field, label, limits)
        for field, label in zip(known, visible, strict=True)
    }


def _fit_field(field: Field, label: str, limits: FormLimits) -> Field:
    changes: dict[str, Any] = {"label": label}
    if field.hint:
        changes["hint"] = one_line(field.hint)
    if field.options:
        changes["options"] = _unique_options(field.options, limits)
    if field.locked is not None:
        return field._replace(**changes, initial=_locked_text(field, limits))
    kind = field.kind
    if (pattern := limits.formats.get(kind)) and not pattern.fullmatch(field.initial or ""):
        changes["kind"] = kind = "text"
    if field.initial and kind in _TYPED_KINDS:
        initial = add_marks(field.initial)
        if _utf16_width(initial) > limits.text:
            changes |= {"locked": _TOO_MANY_MARKS, "beyond_form": True}
            return field._replace(**changes, initial=_locked_text(field, limits))
        longest = max(field.max_length or limits.text, _utf16_width(initial))
        changes |= {"initial": initial, "max_length": longest}
    same = all(getattr(field, name) == value for name, value in changes.items())
    return field if same else field._replace(**changes)


def is_cut(field: Field) -> bool:
    """Whether a fitted field shows only a part of its value. No value can forge that mark."""
    return bool(field.locked and field.initial and _CUT_MARK.search(field.initial))


def shows_all(fields: Iterable[Field]) -> bool:
    """Whether each fitted field shows its whole value, apart from hidden ones."""
    return not any(
        is_cut(field) or any(_CUT_MARK.search(option.label) for option in field.options)
        for field in fields
    )


def find_warnings(form: Form) -> dict[str, tuple[Line, ...]]:
    """What is odd in the values that the fields show, in their names and options, by pointer."""
    values, checked = form.shown_values(), list[tuple[Field, list[str]]]()
    for field in form.fields:
        pointer = field.pointer
        if pointer.endswith("~"):  # it chooses a branch of the schema
            continue
        texts = [
            option.label for option in field.options
        ]  # of such a value only the label is shown
        if not texts and pointer in values:
            texts = [values[pointer]]
        if texts:
            checked.append((field, texts))
    visible = labels([field.label for field, _ in checked], MAX_FIELD_LABEL)
    paths = parse_pointers([field.pointer for field, _ in checked])
    found = field_warnings(visible, paths, [texts for _, texts in checked])
    return {field.pointer: lines for (field, _), lines in zip(checked, found, strict=True) if lines}


def split_pages(fields: Sequence[Field], limits: FormLimits) -> list[tuple[Field, ...]]:
    """The fitted fields in pages. Answers never move a field to another page."""
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
    """The largest size that the field can take of a page, in bytes, with all that people may enter."""
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
    if value and field.options:
        value = ", ".join(field.options[int(at)].label for at in value.split(","))
    return value and excerpt(value, limits.locked_text).text


def _unique_options(options: tuple[Option, ...], limits: FormLimits) -> tuple[Option, ...]:
    """The options with labels that fit and are all different."""
    longest = limits.option_label - _MARK_LENGTH
    fitting = labels((option.label for option in options), longest)
    if len(set(fitting)) < len(fitting):
        fitting = [f"{number}. {each}" for number, each in enumerate(fitting, start=1)]
    return tuple(map(Option, fitting))


def _utf16_width(text: str) -> int:
    """The length in UTF-16 units, as browsers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


MAX_ID = 255
#: What the ids of all fields begin with.
PREFIX = "f:"


def field_ids(fields: Iterable[Field], revision: int, edition: str = "") -> dict[str, str]:
    """The id of each field's input, by pointer: at most MAX_ID characters, all visible.

    Clients keep what was typed in an input with the same id (docs.slack.dev/reference/views/modal-views).
    So ids change with the revision, the `edition` (which of the tools), and the choice above a field.
    """
    fields = tuple(fields)
    # A choice has its value's pointer. Its fields are below that pointer, or are the value itself.
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
