"""Reads recorded tool calls line by line, because the file may be larger than the memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from hitl_core.errors import InvalidToolCall
from hitl_core.model import CALL_KEYS, ToolCall, decode, encode

#: The longest line, in bytes: enough for the largest arguments if every byte is escaped.
MAX_LINE = 2 * 1024 * 1024


class RecordedCall(NamedTuple):
    """A call and its line number. `id` and `thread_id` are None if the line has none."""

    line: int
    call: ToolCall
    id: str | None
    thread_id: str | None


class BadLine(NamedTuple):
    line: int
    problem: str


def read_calls(file: BinaryIO) -> Iterator[RecordedCall | BadLine]:
    """Each line `{"name", "args", "id"?, "thread_id"?}`, checked as the gate does. Other keys are ignored,
    except those with which other formats pass arguments. Empty lines are skipped.
    """
    number = 0
    while data := file.readline(MAX_LINE + 1):
        number += 1
        if len(data) > MAX_LINE:
            while data and not data.endswith(b"\n"):
                data = file.readline(MAX_LINE)
            yield BadLine(number, f"This line is longer than {MAX_LINE:,} bytes.")
        elif text := data.strip():
            try:
                yield _read_line(number, text)
            except InvalidToolCall as error:
                yield BadLine(number, str(error))


def _read_line(number: int, text: bytes) -> RecordedCall:
    """Raises InvalidToolCall."""
    try:
        fields = decode(text)
    except InvalidToolCall as error:
        raise InvalidToolCall(_line_problem(error)) from error
    for key in ("name", "args"):
        if key not in fields:
            raise InvalidToolCall(
                f'The line has no `{key}`: write it as {{"name": …, "args": {{…}}}}.'
            )
    call_id, thread_id = fields.get("id"), fields.get("thread_id")
    if not isinstance(call_id, str | None):
        raise InvalidToolCall("The `id` must be text.")
    known = {key: value for key, value in fields.items() if key in CALL_KEYS}
    call = ToolCall.from_mapping({**known, "id": str(number) if call_id is None else call_id})
    encode(call.args)
    return RecordedCall(number, call, call_id, thread_id if isinstance(thread_id, str) else None)


def _line_problem(error: InvalidToolCall) -> str:
    """The problem of the line, because the text of `decode` is about arguments."""
    match error.__cause__:
        case json.JSONDecodeError(msg=reason, colno=column):
            return f"This is not JSON: {reason}, in column {column}."
        case UnicodeDecodeError():
            return "This is not UTF-8 text."
        case ValueError() as reason:
            return f"This is not JSON: {reason}."
        case RecursionError():
            return "The JSON is nested too deeply."
        case _:
            return "The line is not a JSON object."
