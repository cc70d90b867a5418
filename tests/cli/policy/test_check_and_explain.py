"""`hitl policy check` and `hitl policy explain`, as a person at a terminal sees them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hitl_core.cli import main

POLICY = """\
default: allow
interrupt_on:
  drop_*: deny
  run_sql:
    allowed_decisions: [approve, reject]
    description: |
      Review this SQL statement
      before execution.
    when: {properties: {query: {pattern: "(?i)delete"}}}
    notify: slack:#support
    escalate: [{after: 90s, to: slack:#team-ops}, {after: 25h, to: slack:C0123ABCD}]
    expire: {after: 2d, decision: respond, message: Nobody was there.}
    reject_reason: required
  send_email: true
"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("policy.yaml")
    path.write_text(POLICY)
    return path


@pytest.mark.usefixtures("policy")
def test_check_says_that_a_policy_is_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", "policy.yaml"]) == 0
    assert capsys.readouterr().out == "ok policy.yaml: 3 rules (1 deny, 2 review), default allow\n"


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("default: deny", "ok policy.yaml: 0 rules, default deny\n"),
        (
            "default: deny\ninterrupt_on: {a: true}",
            "ok policy.yaml: 1 rule (1 review), default deny\n",
        ),
    ],
)
def test_check_counts(
    policy: Path, text: str, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write_text(text)
    main(["policy", "check", "policy.yaml"])
    assert capsys.readouterr().out == out


def test_check_prints_every_problem(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy.write_text("default: alow\ninterrupt_on:\n  a: yes\n")
    assert main(["policy", "check", "policy.yaml"]) == 1
    assert capsys.readouterr().out == (
        "policy.yaml:1: default: This must be `allow`, `review` or `deny`, not `alow`."
        " Did you mean `allow`?\n"
        "policy.yaml:3: interrupt_on.a: A rule must be true, false, `deny` or a mapping, not `yes`.\n"
    )


@pytest.mark.parametrize("command", [["check", "none.yaml"], ["explain", "none.yaml", "a {}"]])
def test_a_file_that_is_missing(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", *command]) == 1
    assert capsys.readouterr().out == "none.yaml: The file does not exist.\n"


EXPLAINED = [
    (
        'run_sql {"query": "DELETE FROM orders"}',
        """\
run_sql: review
  rule       run_sql (policy.yaml:4)
  reason     Review this SQL statement before execution.
  decisions  approve, reject (a rejection needs a reason)
  shown in   slack:#support
  reviewers  the members of the channel where it is shown
  escalates  after 1m30s to slack:#team-ops
  escalates  after 1d1h to slack:C0123ABCD
  expires    after 2d: respond, with the message: Nobody was there.
""",
    ),
    (
        "send_email",
        """\
send_email: review
  rule       send_email (policy.yaml:14)
  reason     The rule `send_email` asks for a person.
  decisions  approve, edit, reject
  shown in   the bot's own channel (HITL_CHANNEL)
  reviewers  the members of the channel where it is shown
  escalates  never
  expires    never: it waits until a person decides
  edits to   no other tool
""",
    ),
    (
        'run_sql {"query": "SELECT 1"}',
        """\
run_sql: allow
  rule       none, the default (policy.yaml:1)
  reason     No policy rule covers this tool. The default allows it without asking.
""",
    ),
    (
        "drop_table {}",
        """\
drop_table: deny
  rule       drop_* (policy.yaml:3)
  reason     The rule `drop_*` denies it.
""",
    ),
]


def test_explain_says_who_and_how_many(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And everything else that a rule may ask for."""
    policy.write_text(
        """\
default: allow
interrupt_on:
  pay:
    allowed_decisions: [approve, reject]
    notify: [origin, "slack:#ops"]
    reviewers: {users: [U1], groups: [S1], quorum: 2, reject_quorum: 2}
    escalate: [{after: 1h, to: "slack:S2", reviewers: {groups: [S2]}}]
    remind: 15m
    clock: delivered
    fallback: slack:#it
    must_read: true
    confirm: true
    redact: [/card]
  ask:
    allowed_decisions: [approve, reject]
    answer_schema: {type: string}
    output: {key: why, into: state}
"""
    )
    for tool in ("pay", "ask"):
        assert main(["policy", "explain", "policy.yaml", tool]) == 0
    text = capsys.readouterr().out
    for line in (
        "shown in   the thread in which the agent was asked, slack:#ops",
        "reviewers  U1, S1; 2 of them must approve; 2 must reject; never the person who asked the agent",
        "reminds    every 15m",
        "escalates  after 1h to slack:S2; S2",
        "clock      starts when the first message is posted",
        "fallback   slack:#it, if a place can't be reached",
        "approval   must be read whole (must_read) and be confirmed (confirm)",
        "hides      /card",
        'answer     must satisfy {"type": "string"}',
        "answer to  why in the agent's state",
    ):
        assert f"  {line}\n" in text


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(("call", "out"), EXPLAINED)
def test_explain(call: str, out: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "explain", "policy.yaml", call]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.usefixtures("policy")
def test_explain_takes_the_arguments_as_a_word_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for call, out in EXPLAINED:
        assert main(["policy", "explain", "policy.yaml", *call.split(" ", 1)]) == 0
        assert capsys.readouterr().out == out
    wrong = ["run_sql {}", "{}"]  # twice
    assert main(["policy", "explain", "policy.yaml", *wrong]) == 2
    assert "not JSON" in capsys.readouterr().err


NEW_KEYS = """\
default: allow
allow_override: true
edit_notice: A person changed this call.
interrupt_on:
  drop: deny
  read: false
  refund: {notify: "slack:#money"}
  send: {idempotent: true}
  ask: {allowed_decisions: [respond], answer_schema: {enum: [yes, "n\u00e3o"]}}
"""


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (
            "send",
            [
                "edits to   read, refund",
                "in doubt   it runs again automatically (idempotent)",
                "overrides  the configuration of a run may loosen this (allow_override)",
            ],
        ),
        (
            "ask",
            [
                'answer     must satisfy {"enum": ["yes", "n\u00e3o"]}',
                "overrides  the configuration of a run may loosen this (allow_override)",
            ],
        ),
    ],
)
def test_explain_says_what_an_edit_and_an_answer_may_be(
    policy: Path, call: str, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An edit may name another tool, unless that is denied or a question; its own people decide then."""
    policy.write_text(NEW_KEYS, "utf-8")
    assert main(["policy", "explain", "policy.yaml", call]) == 0
    texts = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert texts[-len(lines) :] == lines
    assert texts[-len(lines) - 1].startswith("expires ")


def test_explain_names_some_of_many_tools(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = ", ".join(f"t{number}: false" for number in range(10))
    policy.write_text(f"{{default: review, interrupt_on: {{{rules}}}}}")
    main(["policy", "explain", "policy.yaml", "x"])
    assert "edits to   t0, t1, t2, t3, t4, t5, t6, t7 and 2 more\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "out"),
    [
        (
            "default: deny\nallow_override: yes",
            "2: allow_override: This must be true or false, not",
        ),
        ("default: deny\nedit_notice: [a]", "2: edit_notice: This must be text, not a list."),
        (
            "default: deny\ninterrupt_on:\n  a: {allowed_decisions: [respond], answer_schema: {type: q}}",
            "3: interrupt_on.a.answer_schema: The schema is not valid at type: ",
        ),
        (
            "default: deny\ninterrupt_on:\n  a:\n    answer_schema: {}",
            "4: interrupt_on.a.answer_schema: An `answer_schema` needs `allowed_decisions: ",
        ),
    ],
)
def test_check_knows_line_and_path_of_every_key(
    policy: Path, text: str, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write_text(text)
    assert main(["policy", "check", "policy.yaml"]) == 1
    assert capsys.readouterr().out.startswith(f"policy.yaml:{out}")


BAD_CALLS = [
    ('{"name": "run_sql", "args": {}}', "The tool's name comes first, then its arguments: "),
    ("run_sql {query}", "The arguments are not JSON: "),
    ("run_sql [1]", "The arguments must be a JSON object, not a list."),
    ('run_sql {"a": 1, "a": 2}', "The arguments are not JSON: the key 'a' appears twice."),
    (
        'run_sql {"a": "\\ud800"}',
        "The arguments contain half a surrogate pair, which is not valid text.",
    ),
    (
        'run! {"a": 1}',
        "The call 'explain' has the invalid tool name 'run!'. A name has 1 to 128 of",
    ),
    ("", "The call 'explain' has the invalid tool name ''. A name has 1 to 128 of"),
]


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(("call", "message"), BAD_CALLS)
def test_explain_refuses_what_the_gate_would(
    call: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "explain", "policy.yaml", call]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"hitl: {message}")
    assert err.count("\n") == 1


def test_explain_refuses_a_call_in_which_it_is_unclear_what_the_policy_hides(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write_text("default: deny\ninterrupt_on: {pay: {redact: [/card/number]}}")
    assert main(["policy", "explain", "policy.yaml", 'pay {"card": "4111"}']) == 2
    out, err = capsys.readouterr()
    words = "pay can't be reviewed: the policy hides card.number, so card must be an object."
    assert (out, err) == ("", f"hitl: {words}\n")


def test_a_policy_can_not_steer_the_terminal(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write_text(r'{default: review, interrupt_on: {a: {description: "\e[2Kok\u202e"}}}')
    assert main(["policy", "explain", "policy.yaml", "a"]) == 0
    assert r"reason     \x1b[2Kok\u202e" in capsys.readouterr().out


@pytest.mark.usefixtures("policy")
def test_colours_are_for_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["policy", "check", "policy.yaml"])
    assert "\x1b[32mok" in capsys.readouterr().out

    monkeypatch.setenv("NO_COLOR", "1")
    main(["policy", "check", "policy.yaml"])
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "argv", [[], ["policy"], ["policy", "chek"], ["policy", "check"], ["policy", "explain", "f"]]
)
def test_a_wrong_command_exits_with_2(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2


@pytest.mark.parametrize("command", ["check", "explain"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["policy", command, "--help"])
    assert caught.value.code == 0
    assert f"  $ hitl policy {command} policy.yaml" in capsys.readouterr().out


@pytest.mark.usefixtures("policy")
def test_as_a_process_of_its_own() -> None:
    """The entry point's exit code is what main returns."""
    code = "import sys; from hitl_core.cli import main; sys.exit(main())"
    root = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", code, "policy", "check", "none.yaml"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(root), "PATH": ""},
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "none.yaml: The file does not exist.\n")


@pytest.mark.parametrize(
    ("rest", "gaps"),
    [
        ("when: {properties: {amount: {minimum: 500}}}", []),
        (
            "when: {properties: {amount: {type: number, minimum: 500}}, required: [amount]}",
            ["A call without `amount`", "A call whose `amount` is of another type (a text"],
        ),
        (
            "when: {properties: {mode: {enum: [hard]}}, required: [mode]}",
            ["A call without `mode`", "whose `mode`"],
        ),
        ("when: {required: [force]}", ["A call without `force`"]),
        (
            "when: {not: {properties: {amount: {type: number, maximum: 99}}, required: [amount]}}",
            [],
        ),
        (
            "when: {not: {properties: {amount: {maximum: 99}}, required: [amount]}}",
            ["A call whose `amount` is of another type (a text, true or false, null, a list, an"],
        ),
        (
            "when: {not: {properties: {mode: {pattern: ^read}}}}",
            ["A call without `mode`", "A call whose `mode` is of another type (a number"],
        ),
    ],
)
def test_check_warns_where_a_call_slips_past_a_when(
    rest: str, gaps: list[str], policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`{}` and `"500"` fall through to allow. Where the default asks, nothing is said."""
    text = f"default: allow\ninterrupt_on:\n  refund:\n    {rest}\n"
    policy.write_text(text)
    assert main(["policy", "check", "policy.yaml"]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if "warning" in line]
    assert len(shown) == len(gaps)
    for line, gap in zip(shown, gaps, strict=True):
        assert gap in line
        assert "interrupt_on.refund.when" in line
    policy.write_text(text.replace("default: allow", "default: review"))
    assert main(["policy", "check", "policy.yaml"]) == 0
    assert "warning" not in capsys.readouterr().out
