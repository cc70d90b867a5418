"""Reads JSON and numbers that people type, strictly (RFC 8259; RFC 7493 for names, surrogates, numbers)."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_INTEGER = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_MAX_DIGITS = 400


def format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


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
    would be another number.
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
        raise ValueError("is too large a number")
    if Decimal(repr(number)) != Decimal(text):
        raise ValueError(f"has too many digits; the nearest possible number is {number!r}")
    return number


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
