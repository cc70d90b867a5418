"""Which rule applies to a call, and everything that the rule sets."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.model import DEFAULT_PLACE, Expire, Place, Route, Step, ToolCall, Verdict
from hitl_core.policy import Policy, Ruling

POLICY = Policy.from_yaml(
    """\
default: review
interrupt_on:
  read_*: false
  read_secret: true
  drop_table: deny
  run_*:
    description: Look at it.
    when: {properties: {query: {pattern: "(?i)delete|drop"}}, required: [query]}
    allowed_decisions: [approve, reject]
  run_s?l: false
  "*_x": deny
  run_x: {when: {required: [force]}}
"""
)


def judge(policy: Policy, name: str, args: dict[str, Any] | None = None) -> Ruling:
    return policy.judge(ToolCall(id="c1", name=name, args=args or {}))


CASES = [
    ("read_file", {}, "allow", "read_*", 3),
    ("read_secret", {}, "review", "read_secret", 4),  # the exact name beats the glob
    ("READ_file", {}, "review", None, 1),
    ("xread_file", {}, "review", None, 1),
    ("drop_table", {}, "deny", "drop_table", 5),
    ("run_sql", {"query": "DROP it"}, "review", "run_*", 6),  # the first glob that matches
    ("run_sql", {"query": "select"}, "allow", "run_s?l", 10),  # not met: the search continues
    ("run_sql", {}, "allow", "run_s?l", 10),
    ("run_other", {}, "review", None, 1),  # and ends at the default
    ("run_x", {"force": 1}, "review", "run_x", 12),
    ("run_x", {"query": "drop"}, "review", "run_*", 6),  # from the exact name on to the globs
    ("run_x", {}, "deny", "*_x", 11),
]


@pytest.mark.parametrize(("name", "args", "kind", "rule", "line"), CASES)
def test_which_rule_speaks(
    name: str, args: dict[str, Any], kind: str, rule: str | None, line: int
) -> None:
    ruling = judge(POLICY, name, args)
    assert (ruling.verdict.kind, ruling.verdict.rule, ruling.line) == (kind, rule, line)


REASONS = [
    ("read_file", "The rule `read_*` allows it without asking."),
    ("read_secret", "The rule `read_secret` asks for a person."),
    ("drop_table", "The rule `drop_table` denies it."),
    ("unknown", "No policy rule covers this tool."),
]


@pytest.mark.parametrize(("name", "reason"), REASONS)
def test_the_reason_is_a_sentence(name: str, reason: str) -> None:
    ruling = judge(POLICY, name)
    assert ruling.verdict.reason == reason
    assert ruling.description == "Tool execution requires approval"


def test_a_description_is_the_reason_too() -> None:
    ruling = judge(POLICY, "run_sql", {"query": "drop"})
    assert (ruling.verdict.reason, ruling.description) == ("Look at it.", "Look at it.")


@pytest.mark.parametrize("text", ["''", "' '"])
def test_an_empty_description_counts_as_none(text: str) -> None:
    """Otherwise people would not see why they are asked."""
    policy = Policy.from_yaml(
        f"default: deny\ndescription_prefix: {text}\ninterrupt_on: {{a: {{description: {text}}}}}"
    )
    assert judge(policy, "a").description == "Tool execution requires approval"


@pytest.mark.parametrize(
    ("default", "reason", "decisions"),
    [
        ("allow", "No policy rule covers this tool. The default allows it without asking.", ()),
        ("deny", "No policy rule covers this tool. The default denies it.", ()),
        (
            "review",
            "No policy rule covers this tool.",
            ("approve", "edit", "reject"),
        ),
    ],
)
def test_the_default_speaks_where_no_rule_does(
    default: Any, reason: str, decisions: tuple[str, ...]
) -> None:
    policy = Policy.from_mapping({"default": default})
    assert judge(policy, "any") == Ruling(
        verdict=Verdict(kind=default, rule=None, reason=reason),
        description="Tool execution requires approval",
        allowed_decisions=decisions,  # pyright: ignore[reportArgumentType]
        args_schema=None,
        reject_reason="optional",
        route=Route(),
        idempotent=False,
        line=None,
    )


FULL = """\
default: review
description_prefix: Please look
notify: slack:#agent-approvals
escalate: [{after: 10m, to: slack:#team-ops}]
expire: {after: 2d}
interrupt_on:
  inherits: true
  update:
    allowed_decisions: [approve, respond]
    description: Check the customer.
    args_schema: {type: object, properties: {id: {type: string}}, required: [id]}
    notify: [slack:C0123ABCD, slack:#support]
    escalate: [{after: 90s, to: slack:D0123ABCD}, {after: 1h30m, to: slack:G0123ABCD}]
    expire: {after: 1d2h3m4s, decision: respond, message: Nobody was there.}
    reject_reason: required
    idempotent: true
  alone: {escalate: []}
  allowed: false
"""


def test_everything_that_a_rule_may_say() -> None:
    assert judge(Policy.from_yaml(FULL), "update", {"id": "1"}) == Ruling(
        verdict=Verdict(kind="review", rule="update", reason="Check the customer."),
        description="Check the customer.",
        says_description=True,
        allowed_decisions=("approve", "respond"),
        args_schema={
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
        },
        reject_reason="required",
        route=Route(
            notify=(Place("slack:C0123ABCD"), Place("slack:#support")),
            escalate=(
                Step(after=90, to=Place("slack:D0123ABCD")),
                Step(after=5400, to=Place("slack:G0123ABCD")),
            ),
            expire=Expire(after=93784, decision="respond", message="Nobody was there."),
        ),
        idempotent=True,
        line=8,
        policy_schema={
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
        },
    )


@pytest.mark.parametrize("name", ["inherits", "allowed", "unknown"])
def test_the_top_of_the_policy_speaks_for_rules_that_say_nothing(name: str) -> None:
    ruling = judge(Policy.from_yaml(FULL), name)
    assert ruling.description == "Please look"
    assert ruling.route == Route(
        notify=(Place("slack:#agent-approvals"),),
        escalate=(Step(after=600, to=Place("slack:#team-ops")),),
        expire=Expire(after=172800, decision="reject"),
    )


def test_an_empty_chain_switches_the_inherited_one_off() -> None:
    route = judge(Policy.from_yaml(FULL), "alone").route
    assert route.escalate == ()
    assert route.expire == Expire(after=172800)


def test_without_places_the_bot_s_own_channel_is_meant() -> None:
    assert judge(Policy.from_yaml("default: review"), "x").route.notify == (DEFAULT_PLACE,)


def test_the_hash_changes_with_the_text() -> None:
    hashes = {Policy.from_yaml(text).hash for text in (FULL, FULL, FULL + "# more")}
    assert len(hashes) == 2
    assert all(len(each) == 64 for each in hashes)


def test_the_policy_of_the_design_loads_without_the_keys_of_later_versions() -> None:
    text = """\
default: review
description_prefix: Tool execution requires approval
interrupt_on:
  read_*: false
  drop_table: deny
  send_email: true
  run_sql:
    allowed_decisions: [approve, reject]
    description: Review this SQL statement before execution.
    when: {properties: {query: {pattern: "(?i)delete|drop|update"}}}
  update_customer:
    allowed_decisions: [approve, edit, reject, respond]
    args_schema: {type: object, properties: {id: {type: string}}, required: [id]}
    notify: slack:#support
    escalate: [{after: 10m, to: slack:#team-ops}]
    expire: {after: 4h, decision: reject}
    reject_reason: required
    idempotent: true
"""
    policy = Policy.from_yaml(text)
    assert [rule.name for rule in policy.rules] == [
        "read_*",
        "drop_table",
        "send_email",
        "run_sql",
        "update_customer",
    ]
