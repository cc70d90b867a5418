"""Applies a policy, or two of them, to recorded calls one by one, and counts the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from hitl_core.cli import phrases
from hitl_core.cli.policy.compare_rulings import EFFECTS, Change, Effect, find_changes, worst_effect
from hitl_core.cli.policy.recorded_calls import BadLine, RecordedCall, read_calls
from hitl_core.cli.terminal import complain
from hitl_core.policy import Policy, Ruling

#: How many bad lines are reported one by one.
_MAX_COMPLAINTS = 20


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
