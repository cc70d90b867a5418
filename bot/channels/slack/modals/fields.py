"""The fields of a form on the pages of a modal, and the answers read from Slack. Pure.

Inputs show invisible characters as marks (⟦U+202E⟧), which are read back as those characters. So an untouched
value does not change, and an edited value keeps what its editor could see.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from hitl_core.forms import Field, Form, Option

from ....text import add_marks, excerpt, one_line, remove_marks, truncate
from ..render import shorten
from .inputs import ACTION_ID, MAX_INPUT, MAX_LABEL, input_block

#: The limits of one page: bytes of JSON (a view has 250 kB) and fields (a view has 100 blocks).
MAX_PAGE_BYTES = 180_000
MAX_FIELDS = 45
#: A choice with more options is typed as text: each option takes about 100 bytes of the view.
MAX_OPTIONS = 500
#: How many characters of a locked value are shown.
MAX_LOCKED = 800
MAX_ID = 255
_CUT_MARK = re.compile(r"⟦[\d,]+ more characters?⟧")
_TEXT_KINDS = ("text", "long_text", "lines", "json")
#: Slack's own inputs accept less than a schema's format allows. A field whose value does not match becomes a
#: text input.
_SLACK_FORMATS = {
    "email": re.compile(r"|[!-?A-~]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
    "uri": re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[!-~]*)?"),
}
#: The size to reserve for an input, in bytes.
_LONG_BYTES, _SHORT_BYTES = 9_000, 1_000
#: The client did not send this answer.
_MISSING: Any = object()


def to_modal_form(form: Form) -> Form:
    """The form as a modal shows it: visible text, and limits of Slack's inputs."""
    return Form(tuple(_to_modal_field(field) for field in form.fields))


def split_pages(form: Form) -> list[tuple[Field, ...]]:
    """The fields of a modal form in pages that fit into a view. Answers never move a field to
    another page.
    """
    pages: list[tuple[Field, ...]] = [()]
    free_bytes = MAX_PAGE_BYTES
    for field in form.fields:
        size = _size(field)
        if pages[-1] and (size > free_bytes or len(pages[-1]) == MAX_FIELDS):
            pages.append(())
            free_bytes = MAX_PAGE_BYTES
        pages[-1] = (*pages[-1], field)
        free_bytes -= size
    return pages


class BlockIds:
    """The block id of each field.

    Slack keeps what was typed in a block with the same id (docs.slack.dev/reference/views/modal-views), so
    block ids change with the revision, the `edition`, and the choice above a field.
    """

    def __init__(self, form: Form, revision: int, edition: str = "") -> None:
        self._revision, self._edition = revision, edition
        self._selected = {
            field.pointer.removesuffix("~"): field.initial or ""
            for field in form.fields
            if field.redraws
        }

    def of(self, field: Field) -> str:
        state = [str(self._revision), self._edition]
        if self._selected:
            # A choice has its value's pointer. Its fields are below that pointer, or are the value itself.
            at = field.pointer.removesuffix("~")
            state += [
                index
                for above, index in self._selected.items()
                if at.startswith(f"{above}/") or (at == above and not field.redraws)
            ]
        whole = f"f:{field.pointer}#{'.'.join(filter(None, state))}"
        if len(whole) <= MAX_ID and add_marks(whole) == whole:
            return whole
        return f"f:{hashlib.sha256(whole.encode()).hexdigest()}#{self._revision}"


def read_state(
    fields: Iterable[Field], ids: BlockIds, values: Mapping[str, Any]
) -> dict[str, str | None]:
    """Slack's `state.values` → answers by pointer (format: `hitl_core.forms.Kind`), for the fields in it."""
    answers: dict[str, str | None] = {}
    for field in fields:
        if field.locked is None:
            state = values.get(ids.of(field), {}).get(ACTION_ID)
            if (
                isinstance(state, dict)
                and (answer := _read_answer(cast(Any, state))) is not _MISSING
            ):
                answers[field.pointer] = answer
    return answers


def errors_by_block(
    fields: Sequence[Field], ids: BlockIds, errors: Mapping[str, str], top: Sequence[str]
) -> dict[str, str]:
    """Error texts by block id. Slack shows errors only beside inputs, so the first input also gets the errors
    of fields without one. {} if there is no input.
    """
    inputs = {field.pointer: field for field in fields if field.locked is None}
    labels = {field.pointer: field.label for field in fields}
    messages = {ids.of(inputs[p]): _error_text(m) for p, m in errors.items() if p in inputs}
    others = [f"{labels.get(p, p)} {m}" for p, m in errors.items() if p not in inputs]
    others += top
    if others and inputs:
        first = ids.of(next(iter(inputs.values())))
        elsewhere = f"Not about this field: {' '.join(others)}"
        messages[first] = _error_text(" ".join([*filter(None, [messages.get(first)]), elsewhere]))
    return messages


def is_truncated(field: Field) -> bool:
    """Whether a field of a modal form shows only a part of its value. No value can forge that mark."""
    return bool(field.locked and field.initial and _CUT_MARK.search(field.initial))


def _read_answer(state: Mapping[str, Any]) -> str | None:
    """The answer in one input's state; None for an empty input, _MISSING if the state has none
    (docs.slack.dev/reference/interaction-payloads/view-interactions-payload).
    """
    match state:
        case {"selected_option": chosen}:
            return None if chosen is None else str(chosen["value"])
        case {"selected_options": chosen}:
            return ",".join(str(one["value"]) for one in chosen or ())
        case {"selected_date": date}:
            return date
        case {"selected_time": time}:
            return time
        case {"selected_date_time": at}:
            return None if at is None else str(at)
        case {"value": typed}:
            return None if typed is None else remove_marks(str(typed))
        case _:
            return _MISSING


def _error_text(error: str) -> str:
    return shorten(one_line(error), 150)


def _to_modal_field(field: Field) -> Field:
    """The field with visible text. It is locked if its value with marks does not fit into an input."""
    changes: dict[str, Any] = {"label": truncate(one_line(field.label), 140).text}
    if field.hint:
        changes["hint"] = one_line(field.hint)
    if field.options:
        changes["options"] = _unique_options(field.options)
    if field.locked is not None:
        return replace(field, **changes, initial=_display_value(field))
    kind = field.kind
    if (pattern := _SLACK_FORMATS.get(kind)) and not pattern.fullmatch(field.initial or ""):
        changes["kind"] = kind = "text"
    if field.initial and kind in _TEXT_KINDS:
        initial = add_marks(field.initial)
        if _utf16_width(initial) > MAX_INPUT:
            why = "This contains too many invisible characters and can't be changed here."
            return replace(field, **changes, locked=why, initial=_display_value(field))
        longest = max(field.max_length or MAX_INPUT, _utf16_width(initial))
        changes |= {"initial": initial, "max_length": longest}
    same = all(getattr(field, name) == value for name, value in changes.items())
    return field if same else replace(field, **changes)


def _display_value(field: Field) -> str | None:
    """The value of a locked field as text; for a choice the labels of its options."""
    value = field.initial
    if value and field.options:
        value = ", ".join(field.options[int(at)].label for at in value.split(","))
    return value and excerpt(value, MAX_LOCKED).text


def _size(field: Field) -> int:
    """The largest size that the field can take in a view, in bytes."""
    if field.locked is not None or field.options:
        return len(json.dumps(input_block(field, "x" * 40), ensure_ascii=False).encode())
    return _LONG_BYTES if field.kind in ("long_text", "lines", "json") else _SHORT_BYTES


def _unique_options(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """The options with labels that fit and are all different."""
    labels = [truncate(one_line(option.label), MAX_LABEL - 30).text for option in options]
    if len(set(labels)) < len(labels):
        labels = [f"{number}. {label}" for number, label in enumerate(labels, start=1)]
    return tuple(map(Option, labels))


def _utf16_width(text: str) -> int:
    """The length in UTF-16 units, as browsers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
