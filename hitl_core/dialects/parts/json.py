"""Reads JSON values from outside. Their size is checked first. All errors are DialectError."""

from __future__ import annotations

import math
import re
from typing import Any, TypeGuard, cast

from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.model import MAX_SAFE
from hitl_core.model import parse_json as parse_any

MAX_DEPTH = 64
MAX_NODES = 100_000
MAX_TEXT = 16 * 1024 * 1024
_MAX_BITS = 1024
_SURROGATE = re.compile("[\ud800-\udfff]")

#: The keys that hold the question in an interrupt, without underscores and in lower case.
_QUESTION_KEYS = frozenset(
    {"actionrequest", "actionrequests", "inner", "interruptdata", "interrupts", "question"}
)

Json = dict[str, Any]


def check_wire(wire: object, *, javascript: bool = False) -> Any:
    """The same value, if it is JSON within our limits. Raises DialectError.

    `javascript`: refuse whole numbers beyond 2^53, which JavaScript would change.
    """
    waiting: list[tuple[object, int]] = [(wire, 0)]
    nodes = text = 0
    while waiting:
        value, depth = waiting.pop()
        nodes += 1
        if depth > MAX_DEPTH:
            raise DialectError(f"The value is nested deeper than {MAX_DEPTH} levels.")
        if isinstance(value, str):
            text += len(value)
            _check_text(value, text)
        elif isinstance(value, dict):
            mapping = cast(dict[object, object], value)
            _check_nodes(nodes + len(mapping))
            for key in mapping:
                if not isinstance(key, str):
                    raise DialectError("An object in the value has a key that is not text.")
                text += len(key)
                _check_text(key, text)
            waiting.extend((item, depth + 1) for item in mapping.values())
        elif isinstance(value, list | tuple):
            items = cast(list[object], value)
            _check_nodes(nodes + len(items))
            waiting.extend((item, depth + 1) for item in items)
        else:
            _check_scalar(value, javascript)
        _check_nodes(nodes)
    return wire


def parse_json(text: str) -> Any:
    """JSON text, without duplicate keys, NaN or infinity. Raises DialectError."""
    if len(text) > MAX_TEXT:
        raise DialectError(f"The text is longer than {MAX_TEXT:,} characters.")
    try:
        return parse_any(text)
    except InvalidToolCall as error:
        raise DialectError("The text is not valid JSON, or has too many values.") from error


def read_object(value: object, what: str) -> Json:
    if not isinstance(value, dict):
        raise DialectError(f"{what} must be an object.")
    return cast(Json, value)


def read_envelope(value: object, what: str) -> Json:
    """An object of the interrupt itself, not of a call's arguments. Raises DialectError if two of its keys
    hold a question, or are spellings of the same key: only one would be used, and nobody would see the other.
    """
    fields, known = read_object(value, what), dict[str, str]()
    for key in fields:
        plain_key = re.sub(r"[_\-\s]", "", key).lower()
        other = known.setdefault(" asks" if plain_key in _QUESTION_KEYS else plain_key, key)
        if other != key:
            raise DialectError(
                f"{what} has `{other:.80}` and `{key:.80}`, but only one can be used: send only that one."
            )
    return fields


def read_list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise DialectError(f"{what} must be a list.")
    return list(cast(list[Any], value))


def is_object(value: object, *keys: str) -> TypeGuard[Json]:
    """Whether it is an object with all of these keys."""
    return isinstance(value, dict) and all(key in cast(Json, value) for key in keys)


def read_optional_text(value: object, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise DialectError(f"{what} must be text.")
    return value


def _check_text(value: str, total: int) -> None:
    if total > MAX_TEXT:
        raise DialectError(f"The value has more than {MAX_TEXT:,} characters.")
    if not value.isascii() and _SURROGATE.search(value):
        raise DialectError("The value has half a surrogate pair, which is not valid text.")


def _check_nodes(nodes: int) -> None:
    if nodes > MAX_NODES:
        raise DialectError(f"The value has more than {MAX_NODES:,} values in it.")


def _check_scalar(value: object, javascript: bool) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if javascript and abs(value) > MAX_SAFE:
            raise DialectError(
                "JavaScript can't hold a whole number beyond 2^53 exactly: send it as text."
            )
        if value.bit_length() > _MAX_BITS:
            raise DialectError("A number in the value has too many digits.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise DialectError("JSON has no NaN and no infinity.")
    else:
        raise DialectError(f"JSON has no value of the type {type(value).__name__}.")
