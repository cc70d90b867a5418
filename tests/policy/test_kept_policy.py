"""The part of a policy that a review keeps, to judge an edit by it."""

from __future__ import annotations

import contextlib
import json
from dataclasses import MISSING, fields
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hitl_core.model import ToolCall
from hitl_core.policy import InvalidPolicy, Policy, Ruling
from hitl_core.policy.kept_policy import StoredRule, dump_kept_policy, parse_kept_policy
from hitl_core.policy.rule import Rule

names = st.text("ab", min_size=1, max_size=3)
globs = st.text("ab*?", min_size=1, max_size=3)
values = st.sampled_from([0, 5, 5_000, "x", None, [1]])
args = st.dictionaries(st.sampled_from("nm"), values, max_size=2)
schemas = st.sampled_from(
    [
        {"required": ["n"]},
        {"properties": {"n": {"type": "integer", "minimum": 1_000}}, "required": ["n"]},
        {"properties": {"m": {"const": "x"}}},
    ]
)
people = st.sampled_from(
    [
        {"users": ["U1", "U2", "U3"], "quorum": 2},
        {"groups": ["S1"], "exclude_requester": True},
        {"channel_members": True, "editor_approves": False},
    ]
)
words = {
    "description": st.sampled_from(["Why", "Money"]),
    "allowed_decisions": st.sampled_from([["approve", "edit", "reject"], ["approve", "reject"]]),
    "args_schema": schemas,
    "reject_reason": st.just("required"),
    "must_read": st.booleans(),
    "confirm": st.booleans(),
    "hide_when_decided": st.booleans(),
    "redact": st.just(["/m"]),
    "idempotent": st.booleans(),
    "reviewers": people,
    "notify": st.sampled_from(["slack:#a", "origin"]),
    "escalate": st.just([{"after": "10m", "to": "slack:#b"}]),
    "expire": st.just({"after": "1h", "decision": "respond", "message": "Too late"}),
    "remind": st.just("5m"),
    "clock": st.just("delivered"),
    "fallback": st.just("slack:#it"),
}
route_words = ("reviewers", "notify", "escalate", "expire", "remind", "clock", "fallback")
code = st.sampled_from([lambda _: True, lambda _: False])


def configs(whens: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    rules = st.sampled_from([True, False, "deny"]) | st.fixed_dictionaries(
        {}, optional={"when": whens, **words}
    )
    return st.fixed_dictionaries(
        {
            "default": st.sampled_from(["allow", "review", "deny"]),
            "interrupt_on": st.dictionaries(names | globs, rules, max_size=5),
        },
        optional={
            "description_prefix": st.just("Look"),
            "allow_override": st.booleans(),
            **{word: words[word] for word in route_words},
        },
    )


contexts = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "default": st.sampled_from(["review", "deny"]),
        "interrupt_on": st.dictionaries(
            names | globs,
            st.sampled_from([True, "deny"])
            | st.fixed_dictionaries(
                {}, optional={"when": schemas, "reviewers": people, "confirm": st.just(True)}
            ),
            max_size=3,
        ),
    },
)


def make(config: dict[str, Any], context: dict[str, Any] | None) -> Policy | None:
    with contextlib.suppress(InvalidPolicy):
        policy = Policy.from_mapping(config)
        return policy if context is None else policy.for_run(context)
    return None


def restore(policy: Policy, *tools: str) -> Policy:
    """As it comes out of the store."""
    return parse_kept_policy(dump_kept_policy(policy, tools))


@given(configs(schemas), contexts, st.lists(names, min_size=1, max_size=3), args)
def test_what_is_kept_judges_as_the_policy_does(
    config: dict[str, Any],
    context: dict[str, Any] | None,
    tools: list[str],
    arguments: dict[str, Any],
) -> None:
    """Given any policy under any context, when what it says of some tools is written
    and read back, then each call of them has the same ruling."""
    if (policy := make(config, context)) is None:
        return
    again = restore(policy, *tools)
    for tool in tools:
        call = ToolCall("c1", tool, arguments)
        assert again.judge(call) == policy.judge(call)


@given(configs(schemas | code), names, args)
def test_what_can_not_be_kept_only_tightens(
    config: dict[str, Any], tool: str, arguments: dict[str, Any]
) -> None:
    """Given a `when` that is Python code, when the policy is read back, then no call
    is asked about less."""
    if (policy := make(config, None)) is None:
        return
    call = ToolCall("c1", tool, arguments)
    before, after = policy.judge(call), restore(policy, tool).judge(call)
    assert strictness(after) >= strictness(before)
    if before.verdict.kind == after.verdict.kind == "review":
        one, other = before.route, after.route
        assert (one.notify, one.reviewers.people_key) == (other.notify, other.reviewers.people_key)
        assert other.reviewers.quorum >= one.reviewers.quorum
        assert set(after.allowed_decisions) <= set(before.allowed_decisions)
        assert set(after.redact) >= set(before.redact)


def test_only_the_rules_of_these_tools_are_kept() -> None:
    """Given a policy of a hundred tools, then a review keeps those rules that an edit
    may meet."""
    rules: dict[str, Any] = {f"tool_{n}": True for n in range(100)}
    rules |= {"tool_*": {"when": {"required": ["n"]}}, "other_*": True}
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": rules})
    assert [rule["name"] for rule in json.loads(dump_kept_policy(policy, ["tool_7"]))["rules"]] == [
        "tool_7"
    ]
    assert [rule["name"] for rule in json.loads(dump_kept_policy(policy, ["tool_x"]))["rules"]] == [
        "tool_*"
    ]


def test_a_when_that_was_code_is_named_in_the_reason() -> None:
    policy = Policy.from_mapping(
        {"default": "allow", "interrupt_on": {"pay": {"when": lambda args: args["n"] > 9}}}
    )
    ruling = restore(policy, "pay").judge(ToolCall("c1", "pay", {"n": 1}))
    assert ruling.verdict.kind == "review"
    assert "Python code" in ruling.verdict.reason


def strictness(ruling: Ruling) -> int:
    return ("allow", "review", "deny").index(ruling.verdict.kind)


def test_what_is_not_stored_is_a_default_of_a_rule():
    """A stored rule lacks what equals StoredRule's default: Rule has the same defaults, or the rule would be
    another one when it is read. What has no default in Rule is stored, except None."""
    for field in fields(Rule):
        stored = StoredRule.model_fields[field.name]
        if not stored.is_required():
            assert stored.default == (None if field.default is MISSING else field.default)
    assert not StoredRule.model_fields["lost"].default


def test_a_plain_policy_takes_a_hundred_bytes():
    policy = Policy.from_mapping({"default": "review"})

    assert len(dump_kept_policy(policy, ["send_email"])) <= 120
