"""Applies one or two policies to recorded calls, and counts the results. The calls are read line by line,
because the file may be larger than the memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from hitl_core.cli import phrases
from hitl_core.cli.policy.compare_rulings import EFFECTS, Change, Effect, find_changes, worst_effect
from hitl_core.cli.terminal import complain
from hitl_core.errors import InvalidToolCall
from hitl_core.model import CALL_KEYS, ToolCall, decode, encode
from hitl_core.policy import Policy, Ruling

#: The most bad lines that are reported one by one.
_MAX_COMPLAINTS = 20

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


class TrialResult(NamedTuple):
    """`before` and `changes` are only set if two policies are compared."""

    recorded_call: RecordedCall
    ruling: Ruling
    before: Ruling | None
    changes: tuple[Change, ...]

    @property
    def effect(self) -> Effect | None:
        return worst_effect(self.changes) if self.changes else None


class PolicyTrial:
    """`other` is the policy to compare with, or None. `name` is the name of the file with the calls."""

    def __init__(self, policy: Policy, other: Policy | None, name: str) -> None:
        self._policy, self._other, self._name = policy, other, name
        self._calls = self._bad_lines = 0
        self._counts = Counter[str]()

    def results(self, file: BinaryIO) -> Iterator[TrialResult]:
        """The results to show: of every call, or of those that change."""
        for each in read_calls(file):
            if isinstance(each, BadLine):
                self._complain(each)
                continue
            self._calls += 1
            result = self._judge(each)
            if self._other is None:
                self._counts[result.ruling.verdict.kind] += 1
            elif result.effect is not None:
                self._counts[result.effect] += 1
            if self._other is None or result.changes:
                yield result

    def has_failed(self, on: str) -> bool:
        kinds = EFFECTS if on == "any" else ("looser",)
        return bool(self._bad_lines or not self._calls or any(self._counts[kind] for kind in kinds))

    @property
    def summary(self) -> str:
        calls = f"{self._calls:,} call{'' if self._calls == 1 else 's'}"
        kinds = phrases.VERDICT_COLOURS if self._other is None else EFFECTS
        counts = [f"{self._counts[kind]:,} {kind}" for kind in kinds if self._counts[kind]]
        counts_text = ", ".join(counts) or (
            "nothing changes" if self._calls else "nothing was tried"
        )
        bad = f" {self._bad_lines:,} could not be read." if self._bad_lines else ""
        return f"{calls}: {counts_text}.{bad}"

    def _judge(self, each: RecordedCall) -> TrialResult:
        ruling = self._policy.judge(each.call)
        if self._other is None:
            return TrialResult(each, ruling, None, ())
        before = self._other.judge(each.call)
        return TrialResult(each, ruling, before, find_changes(before, ruling))

    def _complain(self, bad: BadLine) -> None:
        self._bad_lines += 1
        if self._bad_lines <= _MAX_COMPLAINTS:
            complain(f"{self._name}:{bad.line}: {bad.problem}")
        elif self._bad_lines == _MAX_COMPLAINTS + 1:
            complain(f"{self._name}:{bad.line}: More bad lines are counted, but not shown.")


def read_calls(file: BinaryIO) -> Iterator[RecordedCall | BadLine]:
    """Each line `{"name", "args", "id"?, "thread_id"?}`, with the checks of the gate. Other keys are ignored,
    except keys that hold arguments in other formats. Empty lines are skipped.
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
    """The problem of the line. It is written here, because the texts of `decode` are about arguments."""
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
