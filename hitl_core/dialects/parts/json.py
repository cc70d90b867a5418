"""Values from outside: bounded before anything walks through them, and read with one kind of complaint."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, TypeGuard, cast

from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.model import decode

MAX_DEPTH = 64
MAX_NODES = 100_000
MAX_TEXT = 16 * 1024 * 1024
#: What JavaScript holds exactly: Number.MAX_SAFE_INTEGER.
MAX_SAFE = 2**53 - 1
_MAX_BITS = 1024
_SURROGATE = re.compile("[\ud800-\udfff]")

#: Under which keys an interrupt holds what it asks about, without underscores, in small letters.
_QUESTION_KEYS = frozenset(
    {"actionrequest", "actionrequests", "inner", "interruptdata", "interrupts", "question"}
)

Json = dict[str, Any]


def check_wire(wire: object, *, javascript: bool = False) -> Any:
    """The same value, which is JSON of a size to work with. Raises DialectError.

    `javascript`: its system reads a whole number beyond 2^53 as another one.
    """
    waiting: list[tuple[object, int]] = [(wire, 0)]
    nodes = text = 0
    while waiting:
        value, depth = waiting.pop()
        nodes += 1
        if depth > MAX_DEPTH:
            raise DialectError(f"This nests deeper than {MAX_DEPTH} levels.")
        if isinstance(value, str):
            text += len(value)
            _check_text(value, text)
        elif isinstance(value, dict):
            mapping = cast(dict[object, object], value)
            _check_nodes(nodes + len(mapping))
            for key in mapping:
                if not isinstance(key, str):
                    raise DialectError("A key in this is not text.")
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
        raise DialectError(f"This is longer than {MAX_TEXT:,} characters.")
    try:
        json.loads(text)  # or `1, "b": 2` would pass below
        return decode(f'{{"value": {text}}}')["value"]
    except (InvalidToolCall, ValueError, RecursionError) as error:
        raise DialectError("This is no JSON that can be read.") from error


def read_object(value: object, what: str) -> Json:
    if not isinstance(value, dict):
        raise DialectError(f"{what} must be an object.")
    return cast(Json, value)


def read_envelope(value: object, what: str) -> Json:
    """An object of the interrupt itself, not of what it asks about. Raises DialectError where two of its keys
    ask, or are spellings of one: one would count, and nobody would see the other.
    """
    fields, known = read_object(value, what), dict[str, str]()
    for key in fields:
        plain_key = re.sub(r"[_\-\s]", "", key).lower()
        other = known.setdefault(" asks" if plain_key in _QUESTION_KEYS else plain_key, key)
        if other != key:
            raise DialectError(
                f"{what} has `{other:.80}` and `{key:.80}`, and only one of them can count: send the one."
            )
    return fields


def read_list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise DialectError(f"{what} must be a list.")
    return list(cast(list[Any], value))


def is_object(value: object, *keys: str) -> TypeGuard[Json]:
    """An object that has all of these keys."""
    return isinstance(value, dict) and all(key in cast(Json, value) for key in keys)


def first_value(value: Mapping[str, Any], *keys: str) -> Any:
    """What stands under the first of these names that is there, None where none is."""
    return next((value[key] for key in keys if key in value), None)


def read_optional_text(value: object, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise DialectError(f"{what} must be text.")
    return value


def _check_text(value: str, total: int) -> None:
    if total > MAX_TEXT:
        raise DialectError(f"This holds more than {MAX_TEXT:,} characters.")
    if not value.isascii() and _SURROGATE.search(value):
        raise DialectError("This holds half a surrogate pair, which is no text.")


def _check_nodes(nodes: int) -> None:
    if nodes > MAX_NODES:
        raise DialectError(f"This holds more than {MAX_NODES:,} values.")


def _check_scalar(value: object, javascript: bool) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if javascript and abs(value) > MAX_SAFE:
            raise DialectError(
                "A whole number beyond 2^53 is another one in JavaScript: send it as text."
            )
        if value.bit_length() > _MAX_BITS:
            raise DialectError("A number in this has too many digits.")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise DialectError("NaN and infinity are no JSON numbers.")
    else:
        raise DialectError(f"JSON has no value of the type {type(value).__name__}.")
