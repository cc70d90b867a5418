"""The inputs of a form's fields, and how the values that a client sends become entries. Pure.

An input's id is a prefix and the field's id, so no field can replace our own data. Clients send text, and
leave out empty inputs. We check limits ourselves, because a client would change a number to its limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, assert_never

from hitl_core.forms import Field, utf16_length

from ....forms import Entries
from ..ids import unreadable
from .elements import Json, break_macros
from .markup import MARKDOWN, make_inert

#: The prefixes of ids. A date with time has two inputs.
INPUT, NUMBER, DAY, CLOCK = "f_", "n_", "d_", "t_"
#: A choice of exactly one with at most this many options shows all of them.
MAX_EXPANDED = 4
#: A client's number is a double: it rounds longer integers.
_EXACT = 2**53
#: The most characters of a number that is typed as text.
MAX_DIGITS = 400
#: A number that a client sends unchanged: a client writes 120.0 as 120, which is another value.
_NUMBER = re.compile(r"(?!-0$)-?(?:0|[1-9]\d{0,14})(?:\.\d{0,14}[1-9])?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d", re.ASCII)
_SECONDS = re.compile(r"\d{10}", re.ASCII)


def field_inputs(field: Field, id: str, room: int) -> list[Json]:
    """The inputs of a field. `room`: the most characters of a text."""
    match field.kind:
        case "text" | "long_text" | "lines" | "json" | "email" | "uri":
            return [_text(field, id, room)]
        case "integer" | "number" if _fits_number_input(field.initial):
            value = None if field.initial is None else _to_number(field.initial)
            return [_input("Number", f"{NUMBER}{id}", field, value)]
        case "integer" | "number":
            return [_text(field, id, room)]
        case "date":
            return [_input("Date", f"{INPUT}{id}", field, field.initial)]
        case "time":
            return [_input("Time", f"{INPUT}{id}", field, field.initial)]
        case "datetime":
            day, clock = _split_seconds(field.initial)
            label = f"{_label(field)}, time in UTC"
            return [
                _input("Date", f"{DAY}{id}", field, day),
                {**_input("Time", f"{CLOCK}{id}", field, clock), "label": label},
            ]
        case "boolean" | "choice" | "choices":
            return [_choices(field, id)]
    assert_never(field.kind)


def text_length(field: Field, most: int) -> int:
    """The most characters that people may enter; 0 if the field is not a text."""
    if field.locked is not None or field.options or field.kind in ("date", "time", "datetime"):
        return 0
    if field.kind in ("integer", "number"):
        return 0 if _fits_number_input(field.initial) else MAX_DIGITS
    return max(1, min(field.max_length or most, most))


def read_entries(data: Mapping[str, object], ids: Iterable[str]) -> Entries:
    """What a person entered on a page with these fields. `data`: the data of the invoke's action. Raises
    Refused for an input that is no text.
    """
    return Entries({id: _answer(data, id) or None for id in ids})


def _answer(data: Mapping[str, object], id: str) -> str:
    if number := _input_text(data, f"{NUMBER}{id}"):
        return _read_number(number)
    day, clock = _input_text(data, f"{DAY}{id}"), _input_text(data, f"{CLOCK}{id}")
    if day or clock:
        return _join_seconds(day, clock)
    return _input_text(data, f"{INPUT}{id}").replace("\r\n", "\n")


def _input_text(data: Mapping[str, object], input_id: str) -> str:
    """What a client sent of an input. It leaves out an empty one."""
    value = data.get(input_id)
    if not isinstance(value, str | None):
        raise unreadable()
    return value or ""


def _read_number(text: str) -> str:
    """The number as text. A number that the client may have rounded gets a mark, so that it is no valid
    number and the person types it again.
    """
    try:
        is_exact = abs(float(text)) < _EXACT
    except ValueError:
        return text
    return text if is_exact else f"≈{text}"


def _text(field: Field, id: str, room: int) -> Json:
    value = field.initial or ""
    is_long = field.kind in ("long_text", "lines", "json") or "\n" in value
    style = {"email": "email", "uri": "url"}.get(field.kind)
    return {
        **_input("Text", f"{INPUT}{id}", field, value or None),
        "maxLength": max(text_length(field, room), utf16_length(value)),
        **({"isMultiline": True} if is_long else {}),
        **({"style": style} if style and not is_long else {}),
    }


def _choices(field: Field, id: str) -> Json:
    labels = [one.label for one in field.options]
    is_plain = not any(map(MARKDOWN.search, labels))
    several = field.kind == "choices"
    element = _input("ChoiceSet", f"{INPUT}{id}", field, field.initial or None)
    if several:
        # Clients interpret these as Markdown.
        labels, element["isMultiSelect"] = [*map(make_inert, labels)], True
    elif is_plain and field.required and len(labels) <= MAX_EXPANDED and not field.redraws:
        element["style"] = "expanded"
    else:
        element["style"] = "compact"
    titles = [break_macros(label) for label in labels]
    return {
        **element,
        "choices": [{"title": title, "value": str(at)} for at, title in enumerate(titles)],
        "wrap": True,
    }


def _input(kind: str, id: str, field: Field, value: object) -> Json:
    element: dict[str, Any] = {"type": f"Input.{kind}", "id": id, "label": _label(field)}
    return element if value is None else {**element, "value": value}


def _label(field: Field) -> str:
    return f"{break_macros(field.label)}{'' if field.required else ' (optional)'}"


def can_show(field: Field, answer: str) -> bool:
    """Whether the field's input can show this value. A text input can show any."""
    match field.kind:
        case "date":
            return _DATE.fullmatch(answer) is not None
        case "time":
            return _TIME.fullmatch(answer) is not None
        case "datetime":
            return _SECONDS.fullmatch(answer) is not None
        case "boolean" | "choice" | "choices":
            several = answer.split(",") if field.kind == "choices" else [answer]
            return {*several} <= {str(at) for at in range(len(field.options))}
        case _:
            return True


def _fits_number_input(initial: str | None) -> bool:
    """Whether a client's number input can show exactly this number."""
    return not initial or _NUMBER.fullmatch(initial) is not None


def _to_number(text: str) -> int | float | None:
    return None if not text else float(text) if "." in text else int(text)


def _split_seconds(seconds: str | None) -> tuple[str | None, str | None]:
    if not seconds:
        return None, None
    when = datetime.fromtimestamp(int(seconds), UTC)
    return f"{when:%Y-%m-%d}", f"{when:%H:%M}"


def _join_seconds(day: str, clock: str) -> str:
    """Seconds since 1970. A date alone or a time alone is not enough."""
    try:
        when = datetime.fromisoformat(f"{day}T{clock[:5]}:00+00:00")
    except ValueError:
        return f"{day} {clock}".strip()
    return str(int(when.timestamp()))
