"""`hitl policy test FILE CALLS`: applies a policy to recorded calls, or compares two policies on them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.policy.compare_rulings import EFFECTS, Change, Effect, find_changes, worst_effect
from hitl_core.cli.policy.recorded_calls import BadLine, RecordedCall, read_calls
from hitl_core.cli.table import Cell, Column, say_table
from hitl_core.cli.terminal import (
    GREEN,
    RED,
    YELLOW,
    Paint,
    complain,
    note,
    say_json_array,
    say_problems,
)
from hitl_core.policy import InvalidPolicy, Policy, Ruling

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_MORE = """\
No tool runs and no review is made. CALLS is a file with one JSON object on each
line: {"name": …, "args": {…}}, with "id" and "thread_id" if you have them; -
reads standard input. The file may have any size.\
"""
_EPILOG = """\
examples:
  $ hitl policy test policy.yaml calls.jsonl
  LINE  TOOL        VERDICT  RULE         REASON
  1     read_file   allow    read_*       The rule `read_*` allows it without …
  2     run_sql     review   run_sql      Review this SQL statement before exec…
  3     drop_table  deny     drop_table   The rule `drop_table` denies it.
  $ hitl policy test new.yaml calls.jsonl --against policy.yaml
  LINE  TOOL     EFFECT    CHANGE            RULE         BEFORE
  2     run_sql  looser    review → allow    the default  run_sql
  7     refund   stricter  decisions: -edit  refund
  $ git show main:policy.yaml > main.yaml
  $ hitl policy test policy.yaml calls.jsonl --against main.yaml > /dev/null

With --against only the calls that change are listed. A change is "looser" if a
denied call is now reviewed, or a reviewed call now runs; if it adds a decision,
or a place whose members may decide; if a schema is removed or changed; if a
reason is no longer required; or if the rule becomes idempotent. Changes of time
and order are "different"; all others are "stricter". Texts are not compared.

In a pipe each line is line, tool, verdict, rule and reason, separated by tabs;
with --against line, tool, effect, change, rule and the rule before. With
--json: one array of {"line", "id", "thread_id", "name", "ruling"}; with
--against "effect", "changes", "before" and "after" in place of "ruling". The
counts are printed on standard error.

Exits with 0; 1 if a call becomes looser (--fail-on any: if any call changes),
a line can't be read, there is no call, or a policy is invalid; 2 if the command
is wrong.
"""
_VERDICTS = (
    Column("LINE"),
    Column("TOOL", can_cut=True),
    Column("VERDICT"),
    Column("RULE", can_cut=True),
    Column("REASON", can_cut=True),
)
_CHANGES = (
    Column("LINE"),
    Column("TOOL", can_cut=True),
    Column("EFFECT"),
    Column("CHANGE", can_cut=True),
    Column("RULE", can_cut=True),
    Column("BEFORE", can_cut=True),
)
_COLOURS: dict[Effect, str] = {"looser": RED, "different": YELLOW, "stricter": GREEN}
#: How many bad lines are reported one by one.
_MAX_COMPLAINTS = 20


class _TestResult(NamedTuple):
    """`before` and `changes` are only set if two policies are compared."""

    recorded_call: RecordedCall
    ruling: Ruling
    before: Ruling | None
    changes: tuple[Change, ...]

    @property
    def effect(self) -> Effect | None:
        return worst_effect(self.changes) if self.changes else None


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands,
        "test",
        run,
        help="apply a policy, or a change of it, to recorded calls",
        details=_MORE,
        epilog=_EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="the policy, a YAML file")
    parser.add_argument(
        "calls",
        metavar="CALLS",
        help="the calls, one JSON object on each line; - reads standard input",
    )
    parser.add_argument(
        "--against", metavar="OTHER", help="the current policy: list what FILE changes"
    )
    parser.add_argument(
        "--fail-on",
        choices=("looser", "any"),
        help="with --against: which changes exit with 1 (default: looser)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON array, for programs")


def run(args: argparse.Namespace) -> int:
    if args.fail_on and args.against is None:
        return complain("--fail-on needs --against.")
    try:
        policy = Policy.load(args.file)
        other = None if args.against is None else Policy.load(args.against)
    except InvalidPolicy as error:
        return say_problems(error)
    try:
        calls_file = _open(args.calls)
    except OSError as error:
        return complain(f"{args.calls} can't be read: {error.strerror or error}.")
    with calls_file as file:
        test = _PolicyTest(policy, other, args.calls)
        results = test.results(file)
        if args.json:
            say_json_array(map(_to_json, results))
        elif other is None:
            say_table(_VERDICTS, map(_verdict_row, results))
        else:
            say_table(_CHANGES, map(_change_row, results))
    note(test.summary)
    return 1 if test.has_failed(args.fail_on or "looser") else 0


class _PolicyTest:
    """Applies the policy to the calls one by one, and counts the results."""

    def __init__(self, policy: Policy, other: Policy | None, name: str) -> None:
        self._policy, self._other, self._name = policy, other, name
        self._calls = self._bad_lines = 0
        self._counts = Counter[str]()

    def results(self, file: BinaryIO) -> Iterator[_TestResult]:
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

    def _judge(self, each: RecordedCall) -> _TestResult:
        ruling = self._policy.judge(each.call)
        if self._other is None:
            return _TestResult(each, ruling, None, ())
        before = self._other.judge(each.call)
        return _TestResult(each, ruling, before, find_changes(before, ruling))

    def _complain(self, bad: BadLine) -> None:
        self._bad_lines += 1
        if self._bad_lines <= _MAX_COMPLAINTS:
            complain(f"{self._name}:{bad.line}: {bad.problem}")
        elif self._bad_lines == _MAX_COMPLAINTS + 1:
            complain(f"{self._name}:{bad.line}: More bad lines are counted, but not shown.")


def _open(name: str) -> AbstractContextManager[BinaryIO]:
    """Raises OSError."""
    return nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb")


def _verdict_row(result: _TestResult) -> list[Cell]:
    verdict = result.ruling.verdict
    return [
        Cell(str(result.recorded_call.line)),
        Cell(result.recorded_call.call.name),
        Cell(Paint(verdict.kind, phrases.VERDICT_COLOURS[verdict.kind])),
        Cell(_rule_name(result.ruling)),
        Cell(" ".join(verdict.reason.split()), verdict.reason),
    ]


def _change_row(result: _TestResult) -> list[Cell]:
    assert result.before is not None
    assert result.effect is not None
    rule, before = _rule_name(result.ruling), _rule_name(result.before)
    return [
        Cell(str(result.recorded_call.line)),
        Cell(result.recorded_call.call.name),
        Cell(Paint(result.effect, _COLOURS[result.effect])),
        Cell("; ".join(change.text for change in result.changes)),
        Cell(rule),
        Cell("" if before == rule else before, before),
    ]


def _rule_name(ruling: Ruling) -> str:
    return ruling.verdict.rule or "the default"


def _to_json(result: _TestResult) -> dict[str, Any]:
    line, call, call_id, thread_id = result.recorded_call
    about = {"line": line, "id": call_id, "thread_id": thread_id, "name": call.name}
    if result.before is None:
        return {**about, "ruling": _ruling_to_json(result.ruling)}
    return {
        **about,
        "effect": result.effect,
        "changes": [change._asdict() for change in result.changes],
        "before": _ruling_to_json(result.before),
        "after": _ruling_to_json(result.ruling),
    }


def _ruling_to_json(ruling: Ruling) -> dict[str, Any]:
    """`line` is the line of the rule in its policy."""
    return {
        "verdict": ruling.verdict.model_dump(),
        "line": ruling.line,
        "allowed_decisions": ruling.allowed_decisions,
        "route": ruling.route.model_dump(),
    }
