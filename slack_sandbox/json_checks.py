"""Small checks of JSON values. The checks of blocks and views are made of them.

A check takes a value and its JSON pointer, and yields one line for each thing that is
wrong with it, with Slack's own texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

Json = dict[str, Any]
Check = Callable[[object, str], Iterator[str]]


def is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def objects_in(value: object) -> list[Json]:
    """The objects in a list; [] if the value is not a list. For JSON that was not checked yet."""
    return [item for item in value if is_object(item)] if is_list(value) else []


def problem(message: str, at: str) -> str:
    return f"{message} [json-pointer:{at}]"


def string(most: int, least: int = 1) -> Check:
    def check(value: object, at: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield problem("must be a string", at)
        elif len(value) > most:
            yield problem(f"must be less than {most + 1} characters", at)
        elif len(value) < least:
            yield problem(f"must be more than {least - 1} characters", at)

    return check


def url_string(most: int) -> Check:
    """A URL of at most this length."""
    short = string(most)

    def check(value: object, at: str) -> Iterator[str]:
        problems = list(short(value, at))
        yield from problems
        if not problems and not re.match(r"[a-z][a-z0-9+.-]*:\S+$", str(value), re.IGNORECASE):
            yield problem("must be a valid URL", at)

    return check


def integer(least: int, most: int) -> Check:
    def check(value: object, at: str) -> Iterator[str]:
        if not isinstance(value, int) or isinstance(value, bool):
            yield problem("must be an integer", at)
        elif not least <= value <= most:
            yield problem(f"must be between {least} and {most}", at)

    return check


def boolean(value: object, at: str) -> Iterator[str]:
    if not isinstance(value, bool):
        yield problem("must be a boolean", at)


def anything(value: object, at: str) -> Iterator[str]:
    yield from ()


def choice(*allowed: object) -> Check:
    def check(value: object, at: str) -> Iterator[str]:
        if value not in allowed:
            yield problem("must be a valid enum value", at)

    return check


def string_matching(accepts: Callable[[str], bool], message: str) -> Check:
    """A string for which `accepts` returns True."""

    def check(value: object, at: str) -> Iterator[str]:
        if not isinstance(value, str) or not accepts(value):
            yield problem(message, at)

    return check


def array(item: Check, least: int, most: int) -> Check:
    def check(value: object, at: str) -> Iterator[str]:
        if not is_list(value):
            yield problem("must be an array", at)
        elif len(value) > most:
            yield problem(f"no more than {most} items allowed", at)
        elif len(value) < least:
            yield problem(f"no fewer than {least} items allowed", at)
        else:
            for index, one in enumerate(value):
                yield from item(one, f"{at}/{index}")

    return check


def fields(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these keys and `type`, and no others."""
    known = {"type": anything, **(optional or {}), **required}

    def check(value: object, at: str) -> Iterator[str]:
        if not is_object(value):
            yield problem("must be an object", at)
            return
        for key in required:
            if key not in value:
                yield problem(f"missing required field: {key}", at)
        for key, one in value.items():
            if key in known:
                yield from known[key](one, f"{at}/{key}")
            else:
                yield problem(f"invalid additional property: {key}", at)

    return check


def by_type(table: Mapping[str, Check]) -> Check:
    """An object that is checked by the check of its `type` in the table."""

    def check(value: object, at: str) -> Iterator[str]:
        if not is_object(value):
            yield problem("must be an object", at)
        elif "type" not in value:
            yield problem("missing required field: type", at)
        elif not isinstance(kind := value["type"], str) or kind not in table:
            yield problem(f"unsupported type: {kind}", f"{at}/type")
        else:
            yield from table[kind](value, at)

    return check


def check_then(first: Check, then: Callable[[Json, str], Iterator[str]]) -> Check:
    """Runs `first`; if it finds nothing, also runs `then`, which checks how the parts fit together."""

    def check(value: object, at: str) -> Iterator[str]:
        problems = list(first(value, at))
        yield from problems
        if not problems and is_object(value):
            yield from then(value, at)

    return check


def _with_schema_problem(inner: Check) -> Check:
    """Slack first reports the text object that failed, then the part of it that is wrong."""

    def check(value: object, at: str) -> Iterator[str]:
        problems = list(inner(value, at))
        if problems:
            yield problem("failed to match all allowed schemas", at)
        yield from problems

    return check


def text(most: int) -> Check:
    """A text object, `plain_text` or `mrkdwn`, of 1 to `most` characters."""
    parts: dict[str, Check] = {"text": string(most)}
    return _with_schema_problem(
        by_type(
            {
                "plain_text": fields(parts, {"emoji": boolean}),
                "mrkdwn": fields(parts, {"verbatim": boolean}),
            }
        )
    )


def plain(most: int) -> Check:
    """A `plain_text` object of 1 to `most` characters."""
    return _with_schema_problem(
        by_type({"plain_text": fields({"text": string(most)}, {"emoji": boolean})})
    )
