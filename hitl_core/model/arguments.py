"""Arguments are bytes, written once and hashed. The same bytes are shown to people and then run.

This file also has the limits for all JSON from outside: its digits, and its number of values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence, Sized
from itertools import islice
from math import isinf
from typing import Any, NamedTuple, cast

from hitl_core.errors import InvalidToolCall

#: The limit for the arguments of one call, in bytes of JSON.
MAX_BYTES = 256 * 1024
#: The most values of JSON text. Each takes two bytes or more, so arguments can't have more.
MAX_VALUES = MAX_BYTES // 2
#: The limit for nesting. json.loads itself raises RecursionError near 990 levels.
MAX_DEPTH = 32

#: The limit for the digits of a whole number from outside. The largest float has 309.
MAX_DIGITS = 400

JsonObject = dict[str, Any]

_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)
#: Values of these types contain no others, so they are not checked recursively. Large arguments have a
#: hundred thousand of them, so this saves time.
_SCALAR_TYPES = frozenset({str, int, float, bool, type(None)})


class Arguments(NamedTuple):
    """The arguments of one call: UTF-8 JSON with sorted keys."""

    data: bytes

    @property
    def hash(self) -> str:
        """SHA-256 of the bytes, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    def parse(self) -> JsonObject:
        """A new object each time, so that a change by one caller does not reach another."""
        return cast(JsonObject, json.loads(self.data))


def encode(args: object) -> Arguments:
    """Write arguments as bytes. All arguments are written by this function, so equal ones have equal bytes.

    Raises InvalidToolCall if `args` is not an object, or has something that JSON can't hold exactly (keys
    that are not text, NaN or infinity, half a surrogate pair, other types), more than 256 KiB, or more than
    32 levels.
    """
    if not isinstance(args, dict):
        raise InvalidToolCall(f"The arguments must be a JSON object, not {_type_name(args)}.")
    _check_value(cast(object, args), "", 1, [0])
    try:
        data = _ENCODER.encode(args).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidToolCall(
            "The arguments contain half a surrogate pair, which is not valid text."
        ) from error
    except ValueError as error:
        raise InvalidToolCall(f"The arguments can't be written as JSON: {error}.") from error
    if len(data) > MAX_BYTES:
        raise InvalidToolCall(
            f"The arguments take {len(data):,} bytes; the limit is {MAX_BYTES:,}."
        )
    return Arguments(data)


def decode(text: str | bytes) -> JsonObject:
    """Parse JSON from outside. Raises InvalidToolCall unless it is one object, without duplicate keys, NaN or
    infinity.
    """
    value = parse_json(text)
    if not isinstance(value, dict):
        raise InvalidToolCall(f"The arguments must be a JSON object, not {_type_name(value)}.")
    return cast(JsonObject, value)


def parse_json(text: str | bytes) -> object:
    """Like `decode`, for any value. The values are counted first, because the parser can't be interrupted."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if unparsed_has_more_values(data, MAX_VALUES):
        raise InvalidToolCall(f"The arguments have more than {MAX_VALUES:,} values.")
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
            parse_int=parse_whole_number,
        )
    except RecursionError as error:
        raise InvalidToolCall(f"The arguments nest deeper than {MAX_DEPTH} levels.") from error
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise InvalidToolCall(f"The arguments are not JSON: {error}.") from error


def _check_value(value: object, where: str, depth: int, count: list[int]) -> None:
    """Refuse what json.dumps would silently change (int keys) or could not finish. A list that holds the same
    list ten times, ten levels deep, is small in memory and huge as text; so `count` limits the values.
    """
    here = len(cast(Sized, value)) if isinstance(value, dict | list | tuple) else 0
    count[0] += here
    if count[0] > MAX_BYTES:
        raise InvalidToolCall(f"The arguments have more than {MAX_BYTES:,} values.")
    if depth + (here > 0) > MAX_DEPTH:
        raise InvalidToolCall(f"The arguments nest deeper than {MAX_DEPTH} levels.")
    if isinstance(value, dict):
        for key, item in cast(dict[object, object], value).items():
            if not isinstance(key, str):
                raise InvalidToolCall(
                    f"A key in the arguments must be text, not {_type_name(key)}: {where}/."
                )
            if type(item) not in _SCALAR_TYPES:
                _check_value(item, f"{where}/{key}", depth + 1, count)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast(list[object], value)):
            if type(item) not in _SCALAR_TYPES:
                _check_value(item, f"{where}/{index}", depth + 1, count)
    elif not (value is None or isinstance(value, str | int | float | bool)):
        raise InvalidToolCall(
            f"The argument {where} is {_type_name(value)}, which JSON can't hold."
        )


def _unique_keys(pairs: list[tuple[str, Any]]) -> JsonObject:
    result: JsonObject = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key!r} appears twice")
        result[key] = value
    return result


def _parse_finite(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"the number {text:.20} is too large")
    return value


def parse_whole_number(text: str) -> int:
    """For json.loads. Raises ValueError for more than MAX_DIGITS digits, because the parsing time grows with
    the square of their number.
    """
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text:.20}… has more than {MAX_DIGITS} digits")
    return int(text)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _type_name(value: object) -> str:
    names = {"dict": "an object", "list": "a list", "str": "text", "NoneType": "null"}
    name = type(value).__name__
    return names.get(name, f"of type {name}")


def unparsed_has_more_values(data: bytes, limit: int) -> bool:
    """Whether the JSON in `data` has more than `limit` values; keys don't count. This is much faster than
    parsing. If `data` is not JSON, the result has no meaning.
    """
    if len(data) < limit:
        return False
    # Every value is the first of its list or object, or follows a comma. Each text has two quotes.
    if data.count(b",") + data.count(b"[") + data.count(b"{") < limit:
        return False
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 4 * limit:
        return True
    outside = b"".join(plain.split(b'"')[::2])
    return outside.count(b",") + outside.count(b"[") + outside.count(b"{") >= limit


def parsed_has_more_values(value: object, limit: int) -> bool:
    """Whether `value`, as a parser returned it, has more than `limit` JSON values. Stops counting there,
    so it ends even for a list that contains itself.
    """
    return next(islice(_values(value), limit, None), None) is not None


def _values(value: object) -> Iterator[tuple[object]]:
    """Each value in it, the outermost first, in a tuple: so `next` can tell null from the end."""
    stack = [value]
    while stack:
        value = stack.pop()
        yield (value,)
        if isinstance(value, dict):
            stack.extend(cast(dict[str, Any], value).values())
        elif isinstance(value, list | tuple):
            stack.extend(cast(Sequence[Any], value))
