"""`hitl policy test`: the verdicts of a policy on recorded calls, and which verdicts change
with the policy.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hitl_core.cli import main
from hitl_core.cli.policy.compare_rulings import find_changes, worst_effect
from hitl_core.cli.policy.policy_trial import MAX_LINE, BadLine, RecordedCall, read_calls
from hitl_core.model import Route, ToolCall
from hitl_core.policy import Policy
from tests.cli.desk import Desk, Ran

POLICY = """\
default: allow
interrupt_on:
  drop_*: deny
  run_sql: {allowed_decisions: [approve, reject], description: "Look at\\nthis SQL."}
  send_email: true
"""
CALLS = """\
{"id": "c1", "name": "run_sql", "args": {"query": "SELECT 1"}, "thread_id": "t-1"}
{"name": "read_file", "args": {}, "model": "anything"}

{"name": "drop_table", "args": {"table": "orders"}}
"""

Hitl = Callable[..., Ran]


@pytest.fixture
def hitl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Hitl:
    """`hitl policy test` in a folder with a policy and calls; `new` is another policy's text."""
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICY)
    Path("calls.jsonl").write_text(CALLS)

    def run(*argv: str, new: str = "", calls: str | None = None) -> Ran:
        if calls is not None:
            Path("calls.jsonl").write_text(calls)
        Path("new.yaml").write_text(new)
        code = main(["policy", "test", *argv])
        text = capsys.readouterr()
        return Ran(code, text.out, text.err)

    return run


def test_every_call_with_its_verdict_rule_and_reason(hitl: Hitl) -> None:
    assert hitl("policy.yaml", "calls.jsonl") == Ran(
        0,
        "1\trun_sql\treview\trun_sql\tLook at\\nthis SQL.\n"
        "2\tread_file\tallow\tthe default\tNo policy rule covers this tool."
        " The default allows it without asking.\n"
        "4\tdrop_table\tdeny\tdrop_*\tThe rule `drop_*` denies it.\n",
        "3 calls: 1 allow, 1 review, 1 deny.\n",
    )


def test_as_json(hitl: Hitl) -> None:
    first, second, _ = json.loads(hitl("policy.yaml", "calls.jsonl", "--json").out)
    assert first == {
        "line": 1,
        "id": "c1",
        "thread_id": "t-1",
        "name": "run_sql",
        "ruling": {
            "verdict": {
                "kind": "review",
                "rule": "run_sql",
                "reason": "Look at\nthis SQL.",
                "retry": False,
                "by_agent": False,
                "computed": False,
            },
            "line": 4,
            "allowed_decisions": ["approve", "reject"],
            "route": Route().model_dump(mode="json"),
        },
    }
    assert (second["id"], second["thread_id"]) == (None, None)


BAD_LINES = [
    ('{"name": "a", "args": {}', "This is not JSON: Expecting ',' delimiter, in column 25."),
    ('{"name": "a", "args": {"n": NaN}}', "This is not JSON: NaN is not a JSON number."),
    ('{"name": "a", "name": "b"}', "This is not JSON: the key 'name' appears twice."),
    ("[1]", "The line is not a JSON object."),
    ('{"args": {}}', 'The line has no `name`: write it as {"name": …, "args": {…}}.'),
    (
        '{"name": "a", "arguments": {}}',
        'The line has no `args`: write it as {"name": …, "args": {…}}.',
    ),
    (
        '{"name": "a", "args": []}',
        "The call of 'a' has arguments that are not a JSON object: `args` is",
    ),
    ('{"name": "a b", "args": {}}', "The call '2' has the invalid tool name 'a b'. A name has"),
    ('{"name": "a", "args": {}, "id": 7}', "The `id` must be text."),
    ('{"name": "a", "args": {"x": "\\ud800"}}', "The arguments contain half a surrogate pair"),
    ("[" * 100_000, "The JSON is nested too deeply."),
    ('{"name": "a", "args": {}, "input": {"x": 1}}', "The call of 'a' has its arguments twice"),
    ('{"name": "a", "args": {}, "params": {"x": 1}}', "The call has both `params` and `name`"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_named_and_hides_no_other(hitl: Hitl, line: str, message: str) -> None:
    good = '{"name": "x", "args": {}}'
    ran = hitl("policy.yaml", "calls.jsonl", calls=f"{good}\n{line}\n{good}")
    assert ran.code == 1
    assert ran.out.count("\n") == 2
    assert ran.err.startswith(f"hitl: calls.jsonl:2: {message}")
    assert ran.err.endswith("\n2 calls: 2 allow. 1 could not be read.\n")


def test_a_file_of_something_else_does_not_fill_the_screen(hitl: Hitl) -> None:
    ran = hitl("policy.yaml", "calls.jsonl", calls="nonsense\n" * 1_000)
    assert ran.code == 1
    assert ran.err.count("\n") == 22
    assert "calls.jsonl:21: More bad lines are counted, but not shown.\n" in ran.err
    assert ran.err.endswith("0 calls: nothing was tried. 1,000 could not be read.\n")


def test_what_is_no_text_or_too_long_is_one_bad_line() -> None:
    """Given a line that never seems to end, only a part of it is held at a time."""
    good = b'{"name": "x", "args": {}}\n'
    found = read_calls(io.BytesIO(b'"\xff"\n' + b"x" * (3 * MAX_LINE) + b"\n" + good))
    bad, long, last = found
    assert bad == BadLine(1, "This is not UTF-8 text.")
    assert long == BadLine(2, "This line is longer than 2,097,152 bytes.")
    assert last == RecordedCall(3, ToolCall("3", "x", {}), None, None)


def test_the_calls_are_read_as_they_come() -> None:
    class Slow(io.BytesIO):
        lines = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            self.lines += 1
            return b'{"name": "x", "args": {}}\n'

    endless = Slow()
    found = read_calls(endless)
    assert [next(found).line for _ in range(3)] == [1, 2, 3]
    assert endless.lines == 3


def test_nothing_to_try_is_a_failure(hitl: Hitl) -> None:
    """A CI must not be green because a path was wrong."""
    assert hitl("policy.yaml", "calls.jsonl", calls="\n") == Ran(
        1, "", "0 calls: nothing was tried.\n"
    )
    assert hitl("policy.yaml", "calls.jsonl", "--json").out == "[]\n"


@pytest.mark.parametrize(
    ("argv", "code", "reason"),
    [
        (["none.yaml", "calls.jsonl"], 1, "none.yaml: The file does not exist.\n"),
        (
            ["policy.yaml", "calls.jsonl", "--against", "none"],
            1,
            "none: The file does not exist.\n",
        ),
        (["policy.yaml", "none"], 2, "hitl: none can't be read: No such file or directory.\n"),
        (["policy.yaml", "."], 2, "hitl: . can't be read: Is a directory.\n"),
        (
            ["policy.yaml", "calls.jsonl", "--fail-on", "any"],
            2,
            "hitl: --fail-on needs --against.\n",
        ),
    ],
)
def test_what_is_missing(hitl: Hitl, argv: list[str], code: int, reason: str) -> None:
    """The output has only rows or JSON, for the programs that read it."""
    ran = hitl(*argv)
    assert (ran.code, ran.out, ran.err) == (code, "", reason)


# Two policies -------------------------------------------------------------------------------------

CHANGED = """\
default: allow
interrupt_on:
  drop_*: true
  run_sql: {allowed_decisions: [approve], notify: "slack:#sql"}
"""


def test_only_what_changes_is_listed(hitl: Hitl) -> None:
    ran = hitl("new.yaml", "calls.jsonl", "--against", "policy.yaml", new=CHANGED)
    assert ran == Ran(
        1,
        "1\trun_sql\tlooser\tdecisions: -reject; places: +slack:#sql -default\trun_sql\trun_sql\n"
        "4\tdrop_table\tlooser\tdeny → review\tdrop_*\tdrop_*\n",
        "3 calls: 2 looser.\n",
    )


def test_changes_as_json(hitl: Hitl) -> None:
    out = hitl("new.yaml", "calls.jsonl", "--against", "policy.yaml", "--json", new=CHANGED).out
    sql, drop = json.loads(out)
    assert drop["effect"] == "looser"
    assert drop["changes"] == [{"effect": "looser", "text": "deny → review"}]
    assert [drop[key]["verdict"]["kind"] for key in ("before", "after")] == ["deny", "review"]
    assert [each["effect"] for each in sql["changes"]] == ["stricter", "looser"]


@pytest.mark.parametrize(
    ("new", "codes", "summary"),
    [
        (POLICY, (0, 0), "3 calls: nothing changes.\n"),
        (POLICY.replace("true", "false"), (0, 0), "3 calls: nothing changes.\n"),
        (POLICY.replace("default: allow", "default: deny"), (0, 1), "3 calls: 1 stricter.\n"),
        (POLICY + "expire: {after: 1h}\n", (0, 1), "3 calls: 1 different.\n"),
        (POLICY.replace("drop_*: deny", "a: deny"), (1, 1), "3 calls: 1 looser.\n"),
    ],
)
def test_what_fails(hitl: Hitl, new: str, codes: tuple[int, int], summary: str) -> None:
    """Only what becomes looser, or with --fail-on any every change; a change that no call meets is none."""
    argv = ("new.yaml", "calls.jsonl", "--against", "policy.yaml")
    for on, code in zip(("looser", "any"), codes, strict=True):
        ran = hitl(*argv, "--fail-on", on, new=new)
        assert (ran.code, ran.err) == (code, summary)
    assert hitl(*argv, new=new).code == codes[0]


STRING = {"type": "object", "properties": {"a": {"type": "string"}}}
COMPARED: list[tuple[Any, Any, list[tuple[str, str]]]] = [
    ({}, {"description": "Another text"}, []),
    ({}, False, [("looser", "review → allow")]),
    (False, "deny", [("stricter", "allow → deny")]),
    (
        {"allowed_decisions": ["reject", "approve"]},
        {"allowed_decisions": ["approve", "reject"]},
        [],
    ),
    ({"allowed_decisions": ["approve"]}, {}, [("looser", "decisions: +edit +reject")]),
    ({}, {"args_schema": STRING}, [("stricter", "args_schema: added")]),
    ({"args_schema": STRING}, {}, [("looser", "args_schema: removed")]),
    ({"args_schema": {}}, {"args_schema": STRING}, [("looser", "args_schema: changed")]),
    (
        {"allowed_decisions": ["approve"], "args_schema": STRING},
        {"allowed_decisions": ["approve"]},
        [],
    ),
    (
        {"allowed_decisions": ["respond"], "answer_schema": {"type": "string"}},
        {"allowed_decisions": ["respond"]},
        [("looser", "answer_schema: removed")],
    ),
    ({"reject_reason": "required"}, {}, [("looser", "reject_reason: optional")]),
    ({}, {"reject_reason": "required"}, [("stricter", "reject_reason: required")]),
    ({}, {"idempotent": True}, [("looser", "idempotent: true")]),
    (
        {"must_read": False},
        {"confirm": True},
        [("stricter", "must_read: true"), ("stricter", "confirm: true")],
    ),
    ({"confirm": True}, {}, [("looser", "confirm: false")]),
    ({}, {"redact": ["/a"]}, [("different", "redact: /a")]),
    (
        {"reviewers": {"users": ["U1", "U2"]}},
        {
            "reviewers": {
                "users": ["U1", "U2"],
                "quorum": 2,
                "exclude_requester": False,
                "editor_approves": True,
            }
        },
        [
            (
                "stricter",
                "reviewers: U1, U2 → U1, U2; 2 of them must approve; an edit is an approval by its editor",
            )
        ],
    ),
    (
        {"reviewers": {"users": ["U1"]}},
        {"reviewers": {"users": ["U2"]}},
        [("looser", "reviewers: U1 → U2")],
    ),
    (
        {"escalate": [{"after": "5m", "to": "slack:#a"}]},
        {"escalate": [{"after": "5m", "to": "slack:#a", "reviewers": {"groups": ["S1"]}}]},
        [("looser", "escalates: slack:#a after 5m → slack:#a after 5m (S1)")],
    ),
    ({}, {"clock": "delivered"}, [("different", "clock: submitted → delivered")]),
    (
        {"notify": ["slack:#a", "slack:#b"]},
        {"notify": "slack:#b"},
        [("stricter", "places: -slack:#a")],
    ),
    (
        {"escalate": [{"after": "10m", "to": "slack:#a"}]},
        {"escalate": [{"after": "5m", "to": "slack:#a"}]},
        [("different", "escalates: slack:#a after 10m → slack:#a after 5m")],
    ),
    (
        {},
        {"escalate": [{"after": "5m", "to": "slack:#a"}]},
        [("looser", "places: +slack:#a")],
    ),
    (
        {"expire": {"after": "1h"}},
        {"expire": {"after": "1h", "decision": "respond", "message": "Gone"}},
        [("different", "expires: reject after 1h → respond after 1h (Gone)")],
    ),
]


@pytest.mark.parametrize(("before", "after", "found"), COMPARED)
def test_what_counts_as_a_change(before: Any, after: Any, found: list[tuple[str, str]]) -> None:
    old, new = (
        Policy.from_mapping({"default": "review", "interrupt_on": {"a": rule}})
        for rule in (before, after)
    )
    call = ToolCall("1", "a", {})
    assert [*find_changes(old.judge(call), new.judge(call))] == found


def test_of_several_changes_the_worst_counts() -> None:
    rules = ({"notify": "slack:#a"}, {"notify": "slack:#b", "allowed_decisions": ["reject"]})
    call = ToolCall("1", "a", {})
    old, new = (
        Policy.from_mapping({"default": "review", "interrupt_on": {"a": rule}}).judge(call)
        for rule in rules
    )
    assert worst_effect(find_changes(old, new)) == "looser"


# On a terminal ------------------------------------------------------------------------------------


@pytest.mark.redis
def test_a_table_on_a_terminal(desk: Desk, hitl: Hitl) -> None:
    """Cut to its width, and also those rows fit that come after it was drawn."""
    line = '{"name": "run_sql", "args": {}}\n'
    Path("calls.jsonl").write_text(line * 1_000 + "\n" * 9_000 + line)
    ran = desk.on_terminal("policy", "test", "policy.yaml", "calls.jsonl", columns=40)
    assert ran.code == 0
    title, first, *_, last, summary = ran.out.splitlines()
    assert title == "LINE  TOOL     VERDICT  RULE     REASON"
    assert first == "1     run_sql  review   run_sql  Look a…"
    assert last.split()[:3] == ["10001", "run_sql", "review"]
    assert summary == "1,001 calls: 1,001 review."


@pytest.mark.redis
def test_calls_from_the_pipe(desk: Desk, hitl: Hitl) -> None:
    ran = desk.run_piped("policy", "test", "policy.yaml", "-", stdin=CALLS)
    assert ran.out.count("\n") == 3
    assert ran.err == "3 calls: 1 allow, 1 review, 1 deny.\n"
