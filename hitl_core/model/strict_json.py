"""JSON from outside: read so that nothing in it is ambiguous, within limits for its digits and its number of
values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import isinf
from typing import Any, NamedTuple, TypeGuard, cast

from hitl_core.errors import InvalidToolCall

#: The limit for the arguments of one call, in bytes of JSON.
MAX_BYTES = 256 * 1024
#: The most values of JSON text. Each takes two bytes or more, so arguments can't have more.
MAX_VALUES = MAX_BYTES // 2
#: The limit for nesting. json.loads itself raises RecursionError near 990 levels.
MAX_DEPTH = 32

#: The most characters of a JSON Pointer that an error names.
MAX_POINTER = 200
#: The limit for the digits of a whole number from outside. The largest float has 309.
MAX_DIGITS = 400
#: JavaScript's Number.MAX_SAFE_INTEGER: its numbers are doubles, which don't hold every greater whole number.
MAX_SAFE = 2**53 - 1

JsonObject = dict[str, Any]


def decode(text: str | bytes) -> JsonObject:
    """Parse JSON from outside. Raises InvalidToolCall unless it is one object, without duplicate keys, NaN or
    infinity.
    """
    value = parse_json(text)
    if not isinstance(value, dict):
        raise InvalidToolCall(f"The arguments must be a JSON object, not {type_name(value)}.")
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
        raise InvalidToolCall(f"The arguments are not JSON: {_with_place(text, error)}.") from error


class _Flaw(NamedTuple):
    """What stands for a value that is not strict JSON: the parser doesn't say where it is."""

    text: str


def _with_place(text: str | bytes, error: ValueError) -> str:
    """The error of one of the functions below, and where the value is. The text is parsed once more."""
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):  # it says where
        return str(error)

    def mark(parse: Callable[[Any], object]) -> Callable[[Any], object]:
        def parse_or_mark(text: Any) -> object:
            try:
                return parse(text)
            except ValueError as error:
                return _Flaw(str(error))

        return parse_or_mark

    with suppress(ValueError, RecursionError):
        value = json.loads(
            text,
            object_pairs_hook=mark(_unique_keys),
            parse_constant=mark(_refuse_constant),
            parse_float=mark(_parse_finite),
            parse_int=mark(parse_whole_number),
        )
        return _describe_flaw(value)
    return str(error)


def _describe_flaw(value: object) -> str:
    """The first flaw in a parsed value, and where it is."""
    waiting: list[tuple[object, tuple[Any, ...]]] = [(value, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, _Flaw):
            where = to_pointer(_keys_of(path))
            return f"{value.text} (at {where:.{MAX_POINTER}})" if where else value.text
        if isinstance(value, dict | list):
            inner = cast("dict[str, object] | list[object]", value)
            items = inner.items() if isinstance(inner, dict) else enumerate(inner)
            waiting += [(item, (path, key)) for key, item in reversed([*items])]
    raise AssertionError("there is no flaw")


def _keys_of(path: tuple[Any, ...]) -> list[object]:
    """The keys of a path that is nested, so that long ones share their beginnings."""
    keys = list[object]()
    while path:
        path, key = path
        keys.append(key)
    return keys[::-1]


def to_pointer(parts: Iterable[object]) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def child_pointers(pointer: str, names: Iterable[str]) -> list[str]:
    """The pointers to these properties of the object at `pointer`."""
    return [pointer + to_pointer([name]) for name in names]


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


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether this is a number in JSON; in Python True is one too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def type_name(value: object) -> str:
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
