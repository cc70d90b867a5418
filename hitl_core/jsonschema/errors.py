"""Errors of arguments, schemas and patterns, and how the JSON pointers (RFC 6901) in them are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from hitl_core.errors import HitlError

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_$-]{1,40}")
#: https://www.rfc-editor.org/rfc/rfc6901#section-4: no leading zeros.
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
#: The most characters of one key in a sentence, and the most parts of a path.
_MAX_KEY, _MAX_PARTS = 40, 8


@dataclass(frozen=True)
class Together:
    """Properties that don't fit together: they can't all be set; one of them is required; the value at
    `pointer` is required with them; or their values don't fit.
    """

    names: tuple[str, ...]
    why: Literal["all_set", "none_set", "needed_by", "values"]


@dataclass(frozen=True)
class ArgError:
    """An error of the value at `pointer`. `message` follows the value's name: "must be at most 500".
    `together`: the error is about these properties of the value together. `quotes`: the message quotes the
    schema, or keys of the value.
    """

    pointer: str
    message: str
    together: Together | None = None
    quotes: bool = field(default=False, compare=False)


class SchemaError(HitlError):
    """The schema can't be used: it is invalid or too big, or has a remote $ref or an unusable pattern."""


class PatternError(SchemaError):
    """The regular expression is invalid, or can't be matched in a short time."""


def parse_pointer(text: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def read_index(part: str) -> int | None:
    """The index of a list's item; None for a part of a pointer that is none."""
    return int(part) if _INDEX.fullmatch(part) else None


def parse_pointers(texts: Iterable[str]) -> list[list[str]]:
    return [parse_pointer(text) for text in texts]


def format_path(text: str) -> str:
    """`/lines/0/qty` as `lines[0].qty`. A key is quoted unless it is a plain name: an agent may have chosen
    it, and in a sentence of ours it could look like our text, or like another path. A long key is cut, and so
    is a long path, so that it leaves room for the rest of the sentence.
    """
    words, parts = "", parse_pointer(text)
    for part in parts[:_MAX_PARTS]:
        if _INDEX.fullmatch(part):
            words += f"[{part}]"
        else:
            known = part if len(part) <= _MAX_KEY else f"{part[: _MAX_KEY - 1]}…"
            name = known if _PLAIN_NAME.fullmatch(known) else json.dumps(known, ensure_ascii=False)
            words += f".{name}" if words else name
    return words if len(parts) <= _MAX_PARTS else f"{words}…"
