"""`hitl policy test FILE CALLS`: applies a policy to recorded calls, or compares two policies on them."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.policy.compare_rulings import Effect
from hitl_core.cli.policy.policy_trial import PolicyTrial, TrialResult
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
        return say_problems(error, to=sys.stderr)
    try:
        calls_file = _open(args.calls)
    except OSError as error:
        return complain(f"{args.calls} can't be read: {error.strerror or error}.")
    with calls_file as file:
        test = PolicyTrial(policy, other, args.calls)
        results = test.results(file)
        if args.json:
            say_json_array(map(_to_json, results))
        elif other is None:
            say_table(_VERDICTS, map(_verdict_row, results))
        else:
            say_table(_CHANGES, map(_change_row, results))
    note(test.summary)
    return 1 if test.has_failed(args.fail_on or "looser") else 0


def _open(name: str) -> AbstractContextManager[BinaryIO]:
    """Raises OSError."""
    return nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb")


def _verdict_row(result: TrialResult) -> list[Cell]:
    verdict = result.ruling.verdict
    return [
        Cell(str(result.recorded_call.line)),
        Cell(result.recorded_call.call.name),
        Cell(Paint(verdict.kind, phrases.VERDICT_COLOURS[verdict.kind])),
        Cell(_rule_name(result.ruling)),
        Cell(" ".join(verdict.reason.split()), verdict.reason),
    ]


def _change_row(result: TrialResult) -> list[Cell]:
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


def _to_json(result: TrialResult) -> dict[str, Any]:
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
