"""A form over the pages of a modal, and what was entered there. Pure.

Inputs show what can't be seen as marks, ⟦U+202E⟧, which are read back as the characters they stand for. So
a value that nobody touched comes back as it was, and one that was edited keeps what its editor could see.
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
from ..render.block_kit import shorten
from .inputs import ACTION_ID, MAX_INPUT, MAX_LABEL, input_block

#: What the fields of a page may take of a view's 250 kB, in bytes of JSON; and how many a page has, of the
#: 100 blocks of a view.
MAX_PAGE_BYTES = 180_000
MAX_FIELDS = 45
#: A choice between more is typed: a menu takes about a hundred bytes of a view for each.
MAX_OPTIONS = 500
#: The most that is shown of a locked value, in characters.
MAX_LOCKED = 800
MAX_ID = 255
_CUT_MARK = re.compile(r"⟦[\d,]+ more characters?⟧")
_TEXT_KINDS = ("text", "long_text", "lines", "json")
#: What Slack's own inputs let through is less than what a schema's format allows: a value that is not like
#: this is a text, and so is what may become one.
_SLACK_FORMATS = {
    "email": re.compile(r"|[!-?A-~]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
    "uri": re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[!-~]*)?"),
}
#: What an input may come to hold, in bytes.
_LONG_BYTES, _SHORT_BYTES = 9_000, 1_000
#: Stands for an answer that a client left out.
_MISSING: Any = object()


def to_modal_form(form: Form) -> Form:
    """The form as a modal shows it."""
    return Form(tuple(_to_modal_field(field) for field in form.fields))


def split_pages(form: Form) -> list[tuple[Field, ...]]:
    """The fields of a `shown_form`, page by page, as far as one view has room for them. What was entered
    moves no field to another page.
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
    """The block id of each field. A new revision has new ones, so Slack shows its values and not what was
    typed before (docs.slack.dev/reference/views/modal-views); so has another `edition`, and whatever
    follows a choice that was changed.
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
            # A choice belongs to its value's own pointer, what it brings lies below or is the value itself.
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
    """Slack's `state.values` → answers by pointer, as `Kind` says, for the fields of which they tell."""
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
    """Slack shows errors only beside inputs of the view: what has no input stands at the first. {} without
    any input."""
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
    """Whether a field of a `shown_form` shows only a part of its value. No value can forge that mark."""
    return bool(field.locked and field.initial and _CUT_MARK.search(field.initial))


def _read_answer(state: Mapping[str, Any]) -> str | None:
    """docs.slack.dev/reference/interaction-payloads/view-interactions-payload. null is an empty input; what
    is not there at all is _MISSING.
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
    """The same field, fit to be read. Where its marks leave no room in an input it can't be edited."""
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
            why = "This holds too many characters that can't be seen, and can't be changed here."
            return replace(field, **changes, locked=why, initial=_display_value(field))
        longest = max(field.max_length or MAX_INPUT, _utf16_width(initial))
        changes |= {"initial": initial, "max_length": longest}
    same = all(getattr(field, name) == value for name, value in changes.items())
    return field if same else replace(field, **changes)


def _display_value(field: Field) -> str | None:
    """The value of a locked field as text: that of a choice is the option's label."""
    value = field.initial
    if value and field.options:
        value = ", ".join(field.options[int(at)].label for at in value.split(","))
    return value and excerpt(value, MAX_LOCKED).text


def _size(field: Field) -> int:
    """In bytes of a view, whatever is entered."""
    if field.locked is not None or field.options:
        return len(json.dumps(input_block(field, "x" * 40), ensure_ascii=False).encode())
    return _LONG_BYTES if field.kind in ("long_text", "lines", "json") else _SHORT_BYTES


def _unique_options(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """Labels that fit, each another one."""
    labels = [truncate(one_line(option.label), MAX_LABEL - 30).text for option in options]
    if len(set(labels)) < len(labels):
        labels = [f"{number}. {label}" for number, label in enumerate(labels, start=1)]
    return tuple(map(Option, labels))


def _utf16_width(text: str) -> int:
    """In UTF-16 units, as browsers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
