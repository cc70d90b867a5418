"""The interrupt says which calls need a person. Our policy may add calls and be stricter, never looser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.dialects.apply_policy import apply_policy, combine_rulings, deny_unless_allowed
from hitl_core.dialects.parts.requests import build_request
from hitl_core.errors import DialectError, InvalidToolCall
from hitl_core.gate import SchemaChecks
from hitl_core.gate.submission.calls import JudgedCalls
from hitl_core.model import DecisionType, ToolCall
from hitl_core.policy import Policy, Ruling
from hitl_core.policy.kept_policy import parse_kept_policy
from hitl_core.review import find_pointers

CALL = ToolCall("c1", "send_email", {"to": "a"})
ALL: tuple[DecisionType, ...] = ("approve", "edit", "reject", "respond")
SCHEMA = {"type": "object"}


def interrupt(*allowed: DecisionType, description: str = "Its words") -> JudgedCalls:
    wire = {
        "action_requests": [{"name": CALL.name, "args": CALL.args, "description": description}],
        "review_configs": [{"action_name": CALL.name, "allowed_decisions": list(allowed)}],
    }
    return dialects.get("langchain").load_request(wire, "t-1", [CALL])


def ruling_from(*allowed: DecisionType) -> Ruling:
    """What LangChain's interrupt says about the call."""
    [ruling] = interrupt(*allowed).rulings
    return ruling


ASKED = ruling_from(*ALL)


def judge(default: str = "allow", **rules: Any):
    return Policy.from_mapping({"default": default, "interrupt_on": rules}).judge(CALL)


@pytest.mark.parametrize("default", ["allow", "review"])
def test_an_interrupt_is_reviewed_even_if_the_policy_would_not_ask(default: str) -> None:
    """Given a default of allow or review, then LangChain's own decisions and words stay."""
    ruling = combine_rulings(judge(default), ASKED, CALL)
    assert ruling.verdict.kind == "review"
    assert ruling.allowed_decisions == ALL
    assert (ruling.description, ruling.text) == ("Its words", None)


def test_a_rule_that_allows_does_not_open_an_interrupt() -> None:
    assert combine_rulings(judge(send_email=False), ASKED, CALL).verdict.kind == "review"


def test_a_rule_tightens_the_decisions_and_brings_its_own_words_and_schema() -> None:
    """Given a rule for the tool, then only what both allow may be decided; skipping, which LangChain doesn't
    have, is answered as a rejection."""
    rule = {
        "allowed_decisions": ["approve", "reject", "ignore"],
        "description": "Look twice.",
        "args_schema": {"type": "object", "required": ["to"]},
        "reject_reason": "required",
    }
    ruling = combine_rulings(judge(send_email=rule), ASKED, CALL)
    assert ruling.allowed_decisions == ("approve", "reject", "ignore")
    assert (ruling.description, ruling.text) == ("Look twice.", "Its words")
    assert ruling.args_schema == rule["args_schema"]
    assert ruling.reject_reason == "required"


@pytest.mark.parametrize("rules", [{"send_email": "deny"}, {"send_*": "deny"}])
def test_the_policy_may_deny_what_interrupts(rules: dict[str, Any]) -> None:
    assert combine_rulings(judge(**rules), ASKED, CALL).verdict.kind == "deny"


def test_nothing_left_to_decide_is_an_error_that_names_the_tool() -> None:
    """Given that LangChain and the rule have no decision in common, then the call is refused."""
    rule = {"allowed_decisions": ["respond"]}
    with pytest.raises(DialectError, match=r"`send_email`.*approve.*respond"):
        combine_rulings(judge(send_email=rule), ruling_from("approve"), CALL)


def test_a_call_that_does_not_interrupt_runs_only_where_the_policy_allows_it() -> None:
    """security M5: given a default of review, then it is stopped, as under a `review` rule."""
    assert deny_unless_allowed(judge("allow"), CALL).verdict.kind == "allow"
    assert deny_unless_allowed(judge("review", send_email=False), CALL).verdict.kind == "allow"
    by_default = deny_unless_allowed(judge("review"), CALL)
    assert by_default.verdict.kind == "deny"
    assert "`default: allow`" in by_default.verdict.reason
    assert deny_unless_allowed(judge("deny"), CALL).verdict.kind == "deny"
    ruling = deny_unless_allowed(judge(send_email=True), CALL)
    assert ruling.verdict.kind == "deny"
    assert "add `send_email` to interrupt_on in the agent" in ruling.verdict.reason
    # dialects 4: there may be a rule whose `when` let this call pass.
    assert "give the policy's rule the same `when`" in ruling.verdict.reason
    # dialects M5: or a node asked itself; `interrupt_on` doesn't apply to that.
    for text in (ruling.verdict.reason, by_default.verdict.reason):
        assert "if that code should decide alone, let the policy allow the tool" in text


@pytest.mark.parametrize(
    "policy",
    [
        {"default": "allow"},
        {"default": "review", "interrupt_on": {"login": False}},
        {"default": "allow", "interrupt_on": {"login": True}},
        {"default": "review"},
        {"default": "deny"},
    ],
)
async def test_a_call_that_did_not_interrupt_hides_what_its_trusted_schema_hides(
    policy: dict[str, Any],
) -> None:
    """Given trusted tools, and a call of the interrupt's turn that needs nobody, allowed or denied, then
    what its own schema hides is hidden."""
    login = ToolCall("c2", "login", {"password": "hunter2"})
    asked = interrupt(*ALL)
    [other] = build_request("langchain", [], "t-1", [login]).rulings
    turn = asked._replace(calls=[CALL, login], rulings=[*asked.rulings, other])
    tools = {"login": {"type": "object", "properties": {"password": {"writeOnly": True}}}}
    made = await apply_policy(
        Policy.from_mapping({**policy, "trust_tool_schemas": True}), turn, tools=tools
    )
    assert made.rulings[1].verdict.kind != "review"
    assert find_pointers(made.rulings[1], login.args) == ("/password",)


async def test_a_tools_own_schema_counts_if_there_is_no_other() -> None:
    policy = Policy.from_mapping({"default": "allow"})
    made = await apply_policy(policy, interrupt(*ALL), tools={"send_email": SCHEMA})
    assert made.rulings[0].args_schema == SCHEMA
    assert made.policy == policy.hash
    with pytest.raises(InvalidToolCall, match="The schema of the tool send_email can't be used"):
        await apply_policy(policy, interrupt(*ALL), tools={"send_email": {"type": 7}})


async def test_an_edit_may_name_the_agents_other_tools() -> None:
    """Each with its own rule; none if nothing may be edited."""
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": {"drop": "deny"}})
    tools = {"send_email": None, "drop": None, "draft": SCHEMA}
    made = await apply_policy(policy, interrupt(*ALL), tools=tools)
    assert made.tools == tools
    kept = parse_kept_policy(made.kept_policy or "")
    kinds = [kept.judge(ToolCall("c1", name, {})).verdict.kind for name in tools]
    assert kinds == ["allow", "deny", "allow"]
    assert (await apply_policy(policy, interrupt("approve"), tools=tools)).tools == {}


async def test_schemas_that_can_not_be_checked_as_one_leave_the_policys() -> None:
    """A `$ref` of the interrupt's finds nothing in both together."""
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}
    asked = interrupt(*ALL)._replace(rulings=[ASKED._replace(args_schema=schema)])
    policy = Policy.from_mapping(
        {"default": "review", "interrupt_on": {"send_email": {"args_schema": SCHEMA}}}
    )
    assert (await apply_policy(policy, asked)).rulings[0].args_schema == SCHEMA
    plain = asked._replace(rulings=[ASKED._replace(args_schema={"title": "mail"})])
    both = {"type": "object", "allOf": [SCHEMA, {"title": "mail"}]}
    assert (await apply_policy(policy, plain)).rulings[0].args_schema == both


def with_schemas(calls: int, patterns: int) -> JudgedCalls:
    """An interrupt of these calls of LangChain in JavaScript, each with its own schema."""
    own = [
        {
            "type": "object",
            "properties": {
                f"p{n}": {"type": "string", "pattern": f"^(a|b|c){{1,9}}x{call}y{n}$"}
                for n in range(patterns)
            },
        }
        for call in range(calls)
    ]
    wire = {
        "actionRequests": [
            {"name": CALL.name, "args": {"a": n}, "description": "d"} for n in range(calls)
        ],
        "reviewConfigs": [
            {"actionName": CALL.name, "allowedDecisions": ["approve", "edit"], "argsSchema": schema}
            for schema in own
        ],
    }
    return dialects.get("langchain_js").load_request(wire, "t-1", [])


async def apply_policies(
    policy: Policy, interrupts: Sequence[JudgedCalls], checks: SchemaChecks
) -> None:
    for each in interrupts:
        await apply_policy(policy, each, checks=checks)


async def test_an_interrupts_schemas_count_in_the_requests_budget() -> None:
    """Given a policy with a schema for the tool, and 100 calls with schemas of their own, then the request is
    refused as the same schemas in `tools` are; and so are several interrupts of one request together.
    """
    policy = Policy.from_mapping(
        {"default": "review", "interrupt_on": {"send_email": {"args_schema": SCHEMA}}}
    )
    with pytest.raises(DialectError, match=r"interrupt can't be used: .* together too large"):
        await apply_policy(policy, with_schemas(calls=100, patterns=10))
    few = with_schemas(calls=4, patterns=10)
    checks = SchemaChecks()
    for _ in range(40):  # the same schemas count once
        made = await apply_policy(policy, few, checks=checks)
        assert all("allOf" in (ruling.args_schema or {}) for ruling in made.rulings)
    with pytest.raises(DialectError, match="together too large"):
        await apply_policies(policy, [with_schemas(4, count) for count in range(1, 40)], checks)


def test_a_rule_with_output_does_not_ask_for_an_interrupts_answer() -> None:
    """The interrupting system runs the tool with its own arguments, so added ones would be lost."""
    rule = {
        "allowed_decisions": ["approve", "reject"],
        "answer_schema": {"type": "string"},
        "output": {"key": "why", "into": "input"},
    }
    ruling = combine_rulings(judge(send_email=rule), ASKED, CALL)
    assert (ruling.answer_schema, ruling.output) == (None, None)


def test_an_interrupt_without_a_text_has_the_policys() -> None:
    [theirs] = interrupt(*ALL, description="").rulings
    policy = Policy.from_mapping({"default": "allow", "description_prefix": "Please look"})
    ruling = combine_rulings(policy.judge(CALL), theirs, CALL)
    assert (ruling.description, ruling.text) == ("Please look", "")
