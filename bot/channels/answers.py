"""Reads what a chat system answers: fields, errors in its shape, and how long to wait after a rate limit."""

from __future__ import annotations

import math
from typing import Any, TypeVar, cast

V = TypeVar("V")
Data = dict[str, Any]

#: The errors that are raised if an answer differs from its documentation.
READ_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
#: The longest wait after a rate limit, in seconds. A longer Retry-After is cut to this: Slack asks for a
#: minute at most.
MAX_WAIT = 120.0


class NoAnswer(ValueError):
    """An answer that can be read, but is not a yes and not a no. Its text says why."""


def read_field(data: Data, key: str, kind: type[V]) -> V:
    """A field of an answer. Raises ValueError if it is missing or has another type."""
    value = data.get(key)
    if not isinstance(value, kind):
        raise ValueError(f"no {key}")
    return value


def read_object(data: Data, key: str) -> Data:
    return cast(Data, read_field(data, key, dict))


def read_list(data: Data, key: str) -> list[Any]:
    return cast("list[Any]", read_field(data, key, list))


def read_retry_after(value: object, most: float = MAX_WAIT) -> float | None:
    """The seconds of a Retry-After header, 1 to `most`; None if it is missing or not a number."""
    try:
        seconds = float(str(value))
    except ValueError:
        return None
    return None if math.isnan(seconds) else min(max(1.0, seconds), most)
