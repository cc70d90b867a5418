"""`hitl policy import`: the configuration of another system becomes YAML with the same verdicts."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.cli import main
from hitl_core.cli.policy.import_policy import import_policy
from hitl_core.dialects import get
from hitl_core.model import DIALECTS, ToolCall
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.policy.reader.read_policy import DESCRIPTION_PREFIX
from tests.cli.desk import Ran


def import_(
    dialect: str, config: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[Ran, Policy | None]:
    """What was said, and the policy that was printed."""
    file = folder / "hitl"
    file.write_text(config if isinstance(config, str) else json.dumps(config))
    code = main(["policy", "import", dialect, str(file)])
    text = capsys.readouterr()
    ran = Ran(code, text.out, text.err.replace(str(file), "hitl"))
    return ran, Policy.from_yaml(text.out) if text.out else None


def test_what_langchain_asks_about_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {
        "interrupt_on": {
            "send_email": True,
            "read_file": False,
            "run_sql": {
                "allowed_decisions": ["approve", "reject"],
                "description": "Look at this.",
                "when": {"required": ["query"]},
            },
            "refund": {"allowed_decisions": ["approve", "edit", "reject"]},
        },
        "description_prefix": "Please look",
        "edit_notice": None,
    }
    ran, _ = import_("langchain", config, tmp_path, capsys)
    assert ran == Ran(
        0,
        """\
# Imported from langchain. Tools that are not listed run without a review.
default: allow
description_prefix: Please look
interrupt_on:
  send_email:
    allowed_decisions: [approve, edit, reject, respond]
  read_file: false
  run_sql:
    allowed_decisions: [approve, reject]
    description: Look at this.
    when:
      required: [query]
  refund: true
""",
    )


def test_the_edit_notice_of_langchain_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is on there where nothing is said of it, and off here."""
    _, policy = import_("langchain", {"interrupt_on": {"a": True}}, tmp_path, capsys)
    assert policy is not None
    assert (policy.edit_notice or "").startswith("Note: a human reviewer replaced this tool call")


def test_camel_case_becomes_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string"}}}
    rule = {"allowedDecisions": ["approve"], "argsSchema": schema, "description": ""}
    for dialect in ("langchain_js", "xpertai"):
        ran, policy = import_(
            dialect,
            {"interruptOn": {"a": rule, "b": True}, "allowOverride": True},
            tmp_path,
            capsys,
        )
        assert policy is not None
        assert policy.allow_override
        assert policy.judge(ToolCall("1", "a", {})).args_schema == schema
        assert policy.judge(ToolCall("1", "b", {})).allowed_decisions == (
            "approve",
            "edit",
            "reject",
        )
        assert ran.err == (
            "The policy has allow_override: write the configuration of a run with our keys now.\n"
        )


def test_an_empty_list_and_none_mean_what_they_mean_to_sagents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """YAML, as JSON, and what it doesn't look at is left out."""
    config = """\
interrupt_on:
  a: {allowed_decisions: []}
  b: {}
  c: {allowed_decisions: [reject], when: whatever, description: <function f at 0x7f>}
"""
    ran, _ = import_("sagents", config, tmp_path, capsys)
    assert ran.code == 0
    assert ran.out.endswith(
        "interrupt_on:\n  a: false\n  b: true\n  c:\n    allowed_decisions: [reject]\n"
    )


def test_questions_of_arcgis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = {"interrupt": {"kind": "textInput", "message": "Which one?"}}
    tools = {"export": {"interrupt": "Export it?"}}
    _, policy = import_("arcgis", {"agent": ask, "tools": tools}, tmp_path, capsys)
    assert policy is not None
    asked, exported = (policy.judge(ToolCall("1", name, {})) for name in ("agent:x", "export"))
    assert (asked.allowed_decisions, asked.answer_schema) == (("respond",), {"type": "string"})
    assert (exported.allowed_decisions, exported.description) == (
        ("approve", "reject"),
        "Export it?",
    )


def test_where_an_answer_of_arcgis_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    choice = {"kind": "singleSelection", "metadata": {"options": ["a", "b"]}}
    config = {
        "agent": {"outputKey": "go"},
        "tools": {
            "export": {"interrupt": choice, "outputKey": "format"},
            "ask": {"interrupt": {"kind": "textInput"}},
        },
    }
    ran, policy = import_("arcgis", config, tmp_path, capsys)
    assert policy is not None
    assert "output:\n      key: format\n      into: input\n" in ran.out
    theirs = get("arcgis").load_policy(config)
    for name in ("agent:x", "export", "ask"):
        call = ToolCall("1", name, {})
        assert judge(policy, call) == judge(theirs, call)


FUNCTION = "This is a function, which a file can't contain."
REFUSED: list[tuple[str, Any, list[str]]] = [
    (
        "langchain",
        {
            "interrupt_on": {
                "a.b": {"allowed_decisions": ["approve"], "when": "lambda request: True"},
                "c": {"allowed_decisions": ["approve"], "description": "<function f at 0x7f01>"},
                "d": {"allowed_decisions": []},
            }
        },
        [
            f'interrupt_on["a.b"].when: {FUNCTION} Write a JSON Schema over the arguments, or load',
            "interrupt_on.d: Invalid `interrupt_on` config for tool 'd': `allowed_decisions` must",
            f"interrupt_on.c.description: {FUNCTION} Write a text, or load",
        ],
    ),
    (
        "langchain",
        {"interrupt_on": {"a": {"allowed_decisions": ["edit"], "description": "<f at 0x1>"}}},
        [f"interrupt_on.a.description: {FUNCTION}"],
    ),
    ("langchain", {"interrupt_on": {"*": True}}, ["interrupt_on.*: This is not a tool name"]),
    (
        "langchain",
        {"interruptOn": {"a": True}},
        ["interruptOn: `interruptOn` is the spelling of another system", ""],
    ),
    ("langchain_js", {"interruptOn": {"a": {}}}, ["interruptOn.a: `allowedDecisions` is missing"]),
    ("langchain", "", ["The file is empty."]),
    ("langchain", "[1]", ["This must be a mapping, not a list."]),
    ("langchain", '{"a": 1, "a": 2}', ['This has the name "a" twice, line 1, column 10.']),
    ("langchain", "interrupt_on: &a {}", ["interrupt_on: The anchor `&a` is not allowed"]),
]


@pytest.mark.parametrize(("dialect", "config", "message"), REFUSED)
def test_what_can_not_be_imported_is_named(
    dialect: str,
    config: Any,
    message: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran, _ = import_(dialect, config, tmp_path, capsys)
    assert (ran.code, ran.out) == (1, "")
    lines = ran.err.splitlines()
    assert len(lines) == len(message)
    for line, words in zip(lines, message, strict=True):
        assert words in line


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["agent_inbox", "hitl.json"], "hitl: Agent Inbox has no configuration of its own"),
        (["langchain", "none.json"], "hitl: none.json can't be read: No such file or directory."),
    ],
)
def test_a_wrong_command(
    argv: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hitl.json").write_text("{}")
    assert main(["policy", "import", *argv]) == 2
    assert capsys.readouterr().err.startswith(reason)


# Every configuration ------------------------------------------------------------------------------

TOOLS = (
    *("a", "b", "no", "on", "null", "1e5", "0x1", "08", "agent:x", "a:b.c/d-"),
    *("-", "--", "-1", ".5", "toString", "__proto__"),
)
TEXT = st.text(max_size=12) | st.sampled_from(
    ["1e5", "~", "yes", "null", " a ", "# no", "a: b", "\u2028\x85", "\u202e", "-", "'", '"', "\\"]
)
WHENS = st.sampled_from(
    [{"required": ["x"]}, {"properties": {"x": {"const": "1e5"}, "\u202e\n": {"minLength": 1}}}]
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "title": TEXT,
        "properties": st.dictionaries(
            TEXT, st.fixed_dictionaries({"enum": st.lists(TEXT, min_size=1, unique=True)})
        ),
        "default": st.dictionaries(TEXT, st.floats(allow_nan=False, allow_infinity=False)),
    },
)


def configs(
    dialect: str, rules: str, allowed: str, schema: str, words: list[str]
) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    decisions = st.lists(st.sampled_from(words), min_size=1, unique=True)
    rule = st.booleans() | st.fixed_dictionaries(
        {allowed: decisions}, optional={"description": TEXT, "when": WHENS, schema: SCHEMAS}
    )
    tools = st.dictionaries(st.sampled_from(TOOLS), rule)
    prefix = {"langchain": "description_prefix", "langchain_js": "descriptionPrefix"}.get(dialect)
    top: dict[str, Any] = {prefix: TEXT} if prefix else {}
    if dialect == "langchain":
        top["edit_notice"] = st.none() | TEXT
    override = "allow_override" if rules == "interrupt_on" else "allowOverride"
    made = st.fixed_dictionaries({rules: tools}, optional={**top, override: st.booleans()})
    return st.tuples(st.just(dialect), made)


THREE = ["approve", "edit", "reject"]
SNAKE = ("interrupt_on", "allowed_decisions", "args_schema")
CAMEL = ("interruptOn", "allowedDecisions", "argsSchema")
CONFIGS = st.one_of(
    configs("langchain", *SNAKE, [*THREE, "respond"]),
    configs("langchain_per_call", *SNAKE, [*THREE, "respond"]),
    configs("langchain_js", *CAMEL, THREE),
    configs("xpertai", *CAMEL, THREE),
    configs("sagents", *SNAKE, THREE),
)
CALLS = st.lists(
    st.builds(
        ToolCall,
        st.just("c1"),
        st.sampled_from([*TOOLS, "z"]),
        st.dictionaries(st.sampled_from(["x", "\u202e\n"]), TEXT),
    ),
    max_size=4,
)


def judge(policy: Policy, call: ToolCall) -> dict[str, Any]:
    """All that is frozen of it. A policy of ours knows no blank description, and no blanks around one."""
    ruling = policy.judge(call)
    output = ruling.description.strip() or DESCRIPTION_PREFIX
    reason = ruling.verdict.reason.strip()
    default = f"The rule `{ruling.verdict.rule}` asks for a person."
    return {
        "kind": ruling.verdict.kind,
        "rule": ruling.verdict.rule,
        "reason": reason or default,
        "description": output,
        "decisions": ruling.allowed_decisions,
        "schemas": (ruling.args_schema, ruling.answer_schema, ruling.output),
        "reject_reason": ruling.reject_reason,
        "idempotent": ruling.idempotent,
        "route": ruling.route,
    }


@given(CONFIGS, CALLS)
def test_the_yaml_judges_as_the_configuration(
    made: tuple[str, dict[str, Any]], calls: list[ToolCall]
) -> None:
    """Given any configuration that loads, then what is printed loads and says the same of every call."""
    dialect, config = made
    theirs, text = import_policy(dialect, json.dumps(config).encode(), "hitl.json")
    ours = Policy.from_yaml(text)
    for call in calls:
        assert judge(ours, call) == judge(theirs, call)
    assert (ours.edit_notice, ours.allow_override) == (theirs.edit_notice, theirs.allow_override)
    assert [rule.name for rule in ours.rules] == [rule.name for rule in theirs.rules]


@given(st.sampled_from([n for n in DIALECTS if n != "agent_inbox"]), st.binary(max_size=40))
def test_any_bytes_are_a_policy_or_a_policy_error(dialect: str, data: bytes) -> None:
    for text in (data, b'{"interrupt_on": ' + data + b"}"):
        with suppress(InvalidPolicy):
            import_policy(dialect, text, "hitl")


def test_a_mode_that_no_policy_holds_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hitl.json"
    file.write_text('{"interrupt_on": {"a": true}, "interrupt_mode": "per_call"}')
    assert main(["policy", "import", "langchain", str(file)]) == 0
    assert "A policy has no `interrupt_mode`" in capsys.readouterr().err
