"""Shows values as the text of an input, and reads them: JSON, numbers, lists as lines, dates and times.

JSON and numbers are read strictly (RFC 8259; RFC 7493 for names, surrogates and numbers). Dates and times are
those of RFC 3339; pickers have other values.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, assert_never, cast

from hitl_core.forms.field import ItemKind, Slot, utf16_length
from hitl_core.json_text import indent_json
from hitl_core.jsonschema import is_valid_format

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_INTEGER = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_MAX_DIGITS = 400
_ITEMS: dict[str, ItemKind] = {"string": "text", "integer": "integer", "number": "number"}
#: Seconds since 1970; pickers accept only ten digits (2001 to 2286).
_TEN_DIGITS = range(10**9, 10**10)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)


def format_json(value: Any, max_text: int) -> str:
    """Indented if that fits. A longer value is not indented, because that would take long."""
    short = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if utf16_length(short) > max_text:
        return short
    text = indent_json(value)
    return text if utf16_length(text) <= max_text else short


def read_json(text: str) -> Any:
    """The value. Raises ValueError with the line and the column."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"is not valid JSON: {error.msg}, {_line_and_column(text, error.pos)}"
        ) from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    except ValueError as error:
        raise ValueError("has a number with too many digits") from error
    _check_tokens(text)
    return value


def read_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text.strip()):
        raise ValueError("must be a whole number")
    return int(text)


def read_number(text: str) -> int | float:
    """An int if the text has no fraction and no exponent, otherwise a float. Raises ValueError if the float
    would differ from the number in the text.
    """
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise ValueError("must be a number")
    if len(text) > _MAX_DIGITS:
        raise ValueError("has too many digits")
    if _INTEGER.fullmatch(text):
        return int(text)
    number = float(text)
    if math.isinf(number):
        raise ValueError("is too large")
    if Decimal(repr(number)) != Decimal(text):
        raise ValueError(f"has too many digits; the nearest possible number is {number!r}")
    return number


def are_numbers(items: list[Any]) -> bool:
    """Whether all items are numbers. One fast test, because a list may have 100,000 items."""
    return {*map(type, items)} <= {int, float}


def _check_tokens(text: str) -> None:
    """Raises ValueError for text that `json.loads` accepts, but JSON or other parsers don't."""
    names: list[set[str] | None] = []
    for match in _TOKEN.finditer(text):
        token, offset = match.group(), match.start()
        if token == "{":
            names.append(set())
        elif token == "[":
            names.append(None)
        elif token in "}]":
            names.pop()
        elif token.startswith('"'):
            string: str = json.loads(token)
            if not string.isascii() and any("\ud800" <= char <= "\udfff" for char in string):
                raise ValueError(
                    f"has half a character (half a surrogate pair), {_line_and_column(text, offset)}"
                )
            known = names[-1] if names else None
            if known is not None and text[match.end() :].lstrip()[:1] == ":":
                if string in known:
                    raise ValueError(
                        f'has the name "{string}" twice, {_line_and_column(text, offset)}'
                    )
                known.add(string)
        elif token[0] in "-0123456789NI":
            _check_number(token, _line_and_column(text, offset))


def _check_number(token: str, position: str) -> None:
    if token[-1] in "Ny":  # NaN, Infinity, -Infinity
        raise ValueError(f"is not valid JSON: {token} is not a number, {position}")
    try:
        read_number(token)
    except ValueError as error:
        raise ValueError(f"has a number that {error}, {position}") from error


def _line_and_column(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}"


def item_kind(schema: dict[str, Any]) -> ItemKind | None:
    """The kind of item on each line; None if such items can't be written as lines."""
    kind = schema.get("type")
    return _ITEMS.get(kind) if isinstance(kind, str) else None


def format_lines(items: list[Any], item: ItemKind) -> str | None:
    """The text; None if reading it would not give the same items."""
    if item == "text":
        plain = all(isinstance(x, str) and x.strip() and len(x.splitlines()) == 1 for x in items)
        return "\n".join(cast("list[str]", items)) if plain and not _has_line_end(items) else None
    if not are_numbers(items):
        return None
    return json.dumps(items)[1:-1].replace(", ", "\n")


def _has_line_end(items: list[str]) -> bool:
    """Whether an item ends with a line end. `splitlines` counts this as one line."""
    return any(text.splitlines()[0] != text for text in items)


def read_lines(slot: Slot, answer: str) -> list[Any]:
    """The items. An unchanged line gives the item that it had before. Raises ValueError."""
    held = [] if slot.is_empty else cast("list[Any]", slot.value)
    known = dict(zip((slot.field.initial or "").split("\n"), held, strict=False))
    items: list[Any] = []
    for number, line in enumerate(answer.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.strip():
            continue
        try:
            items.append(known[line] if line in known else _read_item(slot.item, line))
        except ValueError as error:
            raise ValueError(f"line {number} {error}") from error
    return items


def _read_item(item: ItemKind, line: str) -> Any:
    match item:
        case "text":
            return line
        case "integer":
            return read_integer(line)
        case "number":
            return read_number(line)
    assert_never(item)


def picker_date(text: str) -> str | None:
    """The value for a date picker; None if a picker can't show the text. The next functions are similar."""
    return text if is_valid_format("date", text) else None


def picker_time(text: str) -> str | None:
    return text[:5] if is_valid_format("time", text) else None


def picker_datetime(text: str) -> str | None:
    """Seconds since 1970, without the fraction."""
    if not is_valid_format("date-time", text):
        return None
    try:
        seconds = int(datetime.fromisoformat(text[:19]).replace(tzinfo=_zone(text)).timestamp())
    except (OverflowError, ValueError):
        return None
    return str(seconds) if seconds in _TEN_DIGITS else None


def format_zone(text: str | None) -> str:
    offset = _offset(text)
    return "UTC" if offset in "Zz" else f"UTC{offset}"


def read_date(answer: str) -> str:
    if not _DATE.fullmatch(answer) or not is_valid_format("date", answer):
        raise ValueError("must be a date (YYYY-MM-DD)")
    return answer


def read_time(answer: str, before: str | None) -> str:
    """The new time, in the zone of the text before."""
    if not _TIME.fullmatch(answer):
        raise ValueError("must be a time (HH:MM)")
    return f"{answer}:00{_offset(before)}"


def read_datetime(answer: str, before: str | None) -> str:
    """The new date and time, in the zone of the text before."""
    if not (answer.isascii() and answer.isdecimal()) or int(answer) not in _TEN_DIGITS:
        raise ValueError("must be a date and time")
    moment = datetime.fromtimestamp(int(answer), tz=_zone(before))
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + _offset(before)


def drop_seconds(seconds: str) -> str:
    """The seconds rounded down to a minute, because some pickers return the time without seconds."""
    return str(int(seconds) // 60 * 60) if seconds else ""


def _offset(text: str | None) -> str:
    if text is None:
        return "Z"
    return text[-1] if text[-1] in "Zz" else text[-6:]


def _zone(text: str | None) -> timezone:
    offset = _offset(text)
    if offset in "Zz":
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    away = timedelta(hours=hours, minutes=minutes)
    return timezone(-away if offset[0] == "-" else away)
