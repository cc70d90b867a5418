"""Arguments are bytes, written once and hashed. The same bytes are shown to people and then run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sized
from typing import NamedTuple, cast

from hitl_core.errors import InvalidToolCall
from hitl_core.model.strict_json import MAX_BYTES, MAX_DEPTH, JsonObject, type_name

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
        raise InvalidToolCall(f"The arguments must be a JSON object, not {type_name(args)}.")
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
                    f"A key in the arguments must be text, not {type_name(key)}: {where}/."
                )
            if type(item) not in _SCALAR_TYPES:
                _check_value(item, f"{where}/{key}", depth + 1, count)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast(list[object], value)):
            if type(item) not in _SCALAR_TYPES:
                _check_value(item, f"{where}/{index}", depth + 1, count)
    elif not (value is None or isinstance(value, str | int | float | bool)):
        raise InvalidToolCall(f"The argument {where} is {type_name(value)}, which JSON can't hold.")
