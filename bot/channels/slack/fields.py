"""A form's fields as inputs of a modal, and what was entered in them. Pure.

Inputs show what can't be seen as marks, ⟦U+202E⟧, which are read back as the characters they stand for. So
a value that nobody touched comes back as it was, and one that was edited keeps what its editor could see.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, assert_never, cast

from bot.channels.slack.rich import Block, Element, line, plain, pre, rich_text, shortened, words
from bot.text import cut, marked, one_line, unmarked, visible
from hitl_core.forms import Field, Form, Option

ACTION_ID = "value"
#: The most that a plain_text_input holds (docs.slack.dev/reference/block-kit/block-elements).
MAX_INPUT = 3000
MAX_LABEL = 75
#: What the fields may take of a view's 250 kB, in bytes of JSON; and a locked one of them, in characters.
MAX_FORM = 200_000
MAX_LOCKED = 800
MAX_ID = 255
_TYPED = ("text", "long_text", "json")


def shown_form(form: Form) -> Form:
    """The form as a modal shows it; answers are read with the same one. Where it is more than a view holds,
    the largest fields are locked."""
    shown = [_shown(field) for field in form.fields]
    while True:
        sizes = [_size(field) for field in shown]
        at = max(range(len(shown)), key=lambda at: (shown[at].locked is None, sizes[at]))
        if sum(sizes) <= MAX_FORM or shown[at].locked is not None:
            return Form(tuple(shown))
        shown[at] = _locked(form.fields[at], shown[at], "The form has no room to change this.")


def input_block(field: Field, revision: int) -> Block:
    block = block_id(field.pointer, revision)
    if field.locked is not None:
        head = line(words(field.label, bold=True), words(f"  {field.locked}", italic=True))
        return rich_text(block, head, *([pre(field.initial)] if field.initial else []))
    drawn: Block = {
        "type": "input",
        "block_id": block,
        "label": plain(field.label, 150),
        "optional": not field.required,
        "element": _element(field),
    }
    return {**drawn, "hint": plain(field.hint, 300)} if field.hint else drawn


def read_answers(form: Form, revision: int, values: Mapping[str, Any]) -> dict[str, str | None]:
    """Slack's `state.values` → answers by pointer: text, or the index of what was chosen."""
    found: dict[str, str | None] = {}
    for field in form.fields:
        state = values.get(block_id(field.pointer, revision), {}).get(ACTION_ID)
        if state is None or field.locked is not None:
            continue
        if "selected_option" in state:
            chosen = cast(dict[str, Any] | None, state["selected_option"])
            found[field.pointer] = str(chosen["value"]) if chosen else None
        else:
            typed = cast(str | None, state.get("value"))
            found[field.pointer] = typed if typed is None else unmarked(typed)
    return found


def errors_by_block(
    form: Form, revision: int, errors: Mapping[str, str], top: list[str]
) -> dict[str, str]:
    """Slack shows errors only beside inputs of the view: what has no input stands at the first."""
    inputs = {field.pointer: field.label for field in form.fields if field.locked is None}
    labels = {field.pointer: field.label for field in form.fields}
    found = {block_id(p, revision): _told(m) for p, m in errors.items() if p in inputs}
    others = [f"{labels.get(p, p)} {m}" for p, m in errors.items() if p not in inputs] + top
    if others and inputs:
        first = block_id(next(iter(inputs)), revision)
        found[first] = _told(" ".join([*filter(None, [found.get(first)]), *others]))
    return found


def block_id(pointer: str, revision: int) -> str:
    """A new revision has new ids, so Slack shows its values and not what was typed before."""
    whole = f"f:{pointer}#{revision}"
    if len(whole) <= MAX_ID and marked(whole) == whole:
        return whole
    return f"f:{hashlib.sha256(pointer.encode()).hexdigest()}#{revision}"


def _told(error: str) -> str:
    return shortened(one_line(error), 150)


def _shown(field: Field) -> Field:
    """The same field, fit to be read. Where its marks leave no room in an input it can't be edited."""
    shown = replace(
        field,
        label=cut(one_line(field.label), 140).text,
        hint=field.hint and one_line(field.hint),
        options=_distinct(field.options),
    )
    if shown.locked is not None:
        return _locked(field, shown, shown.locked)
    if field.kind not in _TYPED or field.initial is None:
        return shown
    initial = marked(field.initial)
    if _width(initial) > MAX_INPUT:
        why = "This holds too many characters that can't be seen, and can't be changed here."
        return _locked(field, shown, why)
    longest = max(field.max_length or MAX_INPUT, _width(initial))
    return replace(shown, initial=initial, max_length=longest)


def _locked(field: Field, shown: Field, why: str) -> Field:
    """With its value as text: that of a choice is the option's label."""
    value = field.initial
    if value is not None and field.options:
        value = field.options[int(value)].label
    return replace(shown, locked=why, initial=value and cut(visible(value), MAX_LOCKED).text)


def _size(field: Field) -> int:
    return len(json.dumps(input_block(field, 1), ensure_ascii=False).encode())


def _distinct(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """Labels that fit, each another one."""
    labels = [cut(one_line(option.label), MAX_LABEL - 30).text for option in options]
    return tuple(
        Option(label if labels.count(label) == 1 else f"{number}. {label}")
        for number, label in enumerate(labels, start=1)
    )


def _width(text: str) -> int:
    """In UTF-16 units, as browsers count."""
    return len(text.encode("utf-16-le")) // 2


def _element(field: Field) -> Element:
    match field.kind:
        case "text" | "long_text" | "json":
            return _known(
                type="plain_text_input",
                action_id=ACTION_ID,
                multiline=field.kind != "text",
                initial_value=field.initial or None,
                min_length=field.min_length,
                max_length=max(1, field.max_length or MAX_INPUT),
            )
        case "integer" | "number":
            low, high = field.minimum, field.maximum
            if low is not None and high is not None and Decimal(low) > Decimal(high):
                low = high = None  # Slack refuses the view, and the check of the answers says it
            return _known(
                type="number_input",
                action_id=ACTION_ID,
                is_decimal_allowed=field.kind == "number",
                initial_value=field.initial or None,
                min_value=low,
                max_value=high,
            )
        case "boolean" | "choice":
            options = [
                {"text": plain(option.label, MAX_LABEL), "value": str(index)}
                for index, option in enumerate(field.options)
            ]
            short = len(options) <= 5 and field.required
            return _known(
                type="radio_buttons" if short else "static_select",
                action_id=ACTION_ID,
                options=options,
                initial_option=None if field.initial is None else options[int(field.initial)],
            )
    assert_never(field.kind)


def _known(**parts: Any) -> Element:
    return {key: value for key, value in parts.items() if value is not None}
