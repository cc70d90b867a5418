"""A policy in Python: callables, and errors without a line number."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from hitl_core.model import ToolCall
from hitl_core.policy import InvalidPolicy, Policy, Ruling

FAILED = "The rule `pay` asks for a person. Its `when` failed (KeyError) and counts as true."


def policy(**rule: Any) -> Policy:
    return Policy.from_mapping({"default": "allow", "interrupt_on": {"pay": rule}})


def pay(of: Policy, args: dict[str, Any]) -> Ruling:
    return of.judge(ToolCall(id="c1", name="pay", args=args))


def test_when_may_be_a_function() -> None:
    big = policy(when=lambda args: args["amount"] > 100)
    assert pay(big, {"amount": 101}).verdict.kind == "review"
    assert pay(big, {"amount": 100}).verdict.kind == "allow"


def test_a_function_that_fails_counts_as_met() -> None:
    """The text of the exception may hold arguments, so the reason tells only its kind."""
    ruling = pay(policy(when=lambda args: args["amount"] > 100), {"secret": "hunter2"})
    assert ruling.verdict.kind == "review"
    assert ruling.verdict.reason == FAILED


def test_a_schema_that_fails_counts_as_met() -> None:
    """Too deep to be checked. The gate refuses such arguments, but the policy must not raise."""
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    ruling = pay(policy(when={"not": {"additionalProperties": {"$ref": "#/not"}}}), deep)
    assert ruling.verdict.kind == "review"
    assert "Its `when` failed" in ruling.verdict.reason


def test_description_may_be_a_function() -> None:
    ruling = pay(policy(description=lambda args: f"Pay {args['amount']}?"), {"amount": 5})
    assert ruling.description == "Pay 5?"
    assert ruling.verdict.reason == "Pay 5?"


def test_a_description_of_arguments_that_are_no_text_can_be_stored() -> None:
    ruling = pay(policy(description=lambda args: args["to"] + " "), {"to": "x\ud800"})
    assert ruling.description == "x\\ud800"


@pytest.mark.parametrize(
    "value", [pytest.param(10**5000, id="huge"), -1, 1.5, float("nan"), float("inf")]
)
def test_a_number_in_any_place_is_a_problem(value: float) -> None:
    """Python writes no number of more than 4,300 digits as text."""
    rule = {"expire": {"after": value, "decision": value}, "allowed_decisions": [value]}
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_mapping({"default": value, "notify": value, "interrupt_on": {"a": rule}})
    assert len(caught.value.problems) == 5
    with pytest.raises(InvalidPolicy):
        Policy.from_mapping({"default": "deny", "interrupt_on": {"a": value}})


@pytest.mark.parametrize("description", [lambda args: args["amount"], lambda _: 7, lambda _: " "])
def test_a_description_that_fails_is_left_out(description: Callable[..., Any]) -> None:
    ruling = pay(policy(description=description), {})
    assert ruling.description == "Tool execution requires approval"
    assert ruling.verdict.reason == "The rule `pay` asks for a person."


def test_functions_can_not_change_the_call() -> None:
    def meddle(args: dict[str, Any]) -> str:
        args["to"]["account"] = "mine"
        return "x"

    args = {"to": {"account": "theirs"}}
    pay(policy(when=meddle, description=meddle), args)
    assert args == {"to": {"account": "theirs"}}


def test_nobody_can_change_the_policy_through_its_source_or_its_rulings() -> None:
    schema: dict[str, Any] = {"type": "object", "required": ["amount"]}
    made = policy(args_schema=schema, when=schema)
    schema["required"].append("other")
    first = pay(made, {"amount": 1})
    assert first.args_schema == {"type": "object", "required": ["amount"]}
    assert first.args_schema is not None
    first.args_schema.clear()
    assert pay(made, {"amount": 1}).args_schema == {"type": "object", "required": ["amount"]}


REFUSED = [
    ({}, "policy: `default` is missing."),
    ([], "policy: This must be a mapping, not a list."),
    ({"default": "allow", 7: 1}, "policy: The key 7 must be text."),
    (
        {"default": "allow", "interrupt_on": {"a": 1.5}},
        "policy: interrupt_on.a: A rule must be true, false, `deny` or a mapping, not 1.5.",
    ),
    (
        {"default": "allow", "interrupt_on": {"a": object()}},
        "policy: interrupt_on.a: A rule must be true, false, `deny` or a mapping, not of type object.",
    ),
    (
        {"default": "allow", "interrupt_on": {"a*": True, "ab*": "deny"}},
        (
            "policy: interrupt_on.ab*: This rule can never match: `a*` comes first and matches the same"
            " tools. Put this rule before it, or remove it."
        ),
    ),
    (
        {"default": "allow", "interrupt_on": {"fs.read": {"expire": {"after": 10**30}}}},
        (
            'policy: interrupt_on["fs.read"].expire.after: a large number has no unit: write `90s`,'
            " `10m`, `1h30m` or `2d`."
        ),
    ),
]


@pytest.mark.parametrize(("config", "text"), REFUSED)
def test_problems_have_a_key_and_no_line(config: Any, text: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_mapping(config)
    assert str(caught.value) == text


def test_a_schema_that_is_no_plain_json_is_refused() -> None:
    with pytest.raises(InvalidPolicy, match=r"interrupt_on\.pay\.args_schema: "):
        policy(args_schema={"enum": {1, 2}})


def test_tuples_and_other_mappings_are_as_good_as_lists_and_dicts() -> None:
    config = {
        "default": "deny",
        "interrupt_on": MappingProxyType({"a": {"allowed_decisions": ("approve",)}}),
    }
    made = Policy.from_mapping(MappingProxyType(config), name="mine")
    assert made.judge(ToolCall("1", "a", {})).allowed_decisions == ("approve",)


def test_the_hash_is_the_same_in_every_process_and_knows_the_order() -> None:
    def when(args: dict[str, Any]) -> bool:
        return True

    rules: dict[str, Any] = {"a*": {"when": when}, "*b": "deny"}
    turned = dict(reversed(rules.items()))
    made = [Policy.from_mapping({"default": "allow", "interrupt_on": r}) for r in (rules, turned)]
    again = Policy.from_mapping({"default": "allow", "interrupt_on": dict(rules)})
    assert made[0].hash == again.hash != made[1].hash
