"""Converts dates and times (RFC 3339) to the values of pickers, and back."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from hitl_core.jsonschema import is_valid_format

_TEN_DIGITS = range(
    10**9, 10**10
)  # seconds since 1970; pickers accept only ten digits (2001 to 2286)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d", re.ASCII)


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
    """The time in the zone of the old text."""
    if not _TIME.fullmatch(answer):
        raise ValueError("must be a time (HH:MM)")
    return f"{answer}:00{_offset(before)}"


def read_datetime(answer: str, before: str | None) -> str:
    """The date and time in the zone of the old text."""
    if not (answer.isascii() and answer.isdecimal()) or int(answer) not in _TEN_DIGITS:
        raise ValueError("must be a date and time")
    moment = datetime.fromtimestamp(int(answer), tz=_zone(before))
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + _offset(before)


def drop_seconds(seconds: str) -> str:
    """Some pickers return the time without seconds."""
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
