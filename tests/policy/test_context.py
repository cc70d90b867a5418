"""The configuration of one run may make the policy stricter. It can make it looser only if the policy allows
that.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core import dialects
from hitl_core.forms import find_changed_fixed
from hitl_core.jsonschema import SchemaError, check_args, is_hiding_unclear
from hitl_core.model import Place, Route, ToolCall
from hitl_core.policy import InvalidPolicy, Policy, Ruling
from hitl_core.policy.combine_rulings import combine_schemas

CONFIG: dict[str, Any] = {
    "default": "review",
    "notify": "slack:#ops",
    "interrupt_on": {
        "look": False,
        "drop": "deny",
        "send": {
            "allowed_decisions": ["approve", "edit", "reject"],
            "args_schema": {"type": "object", "required": ["to"]},
            "idempotent": True,
        },
    },
}
POLICY = Policy.from_mapping(CONFIG)
LOOSE = Policy.from_mapping({**CONFIG, "allow_override": True})


def judge(policy: Policy, context: dict[str, Any], tool: str, **args: Any) -> Ruling:
    return policy.for_run(context).judge(ToolCall("1", tool, args))


def kind(policy: Policy, context: dict[str, Any], tool: str, **args: Any) -> str:
    return judge(policy, context, tool, **args).verdict.kind


def rules(**each: Any) -> dict[str, Any]:
    return {"interrupt_on": each}


def test_a_context_adds_a_gate() -> None:
    asked = judge(POLICY, rules(look={"allowed_decisions": ["approve", "reject"]}), "look")
    assert (asked.verdict.kind, asked.allowed_decisions) == ("review", ("approve", "reject"))
    assert asked.verdict.reason == "This run's own configuration asks for a person."
    assert asked.route == Route(notify=(Place("slack:#ops"),))
    assert kind(POLICY, rules(look="deny"), "look") == "deny"
    assert kind(POLICY, {"default": "deny"}, "look") == "deny"


def test_a_context_takes_no_gate_away() -> None:
    for context in (rules(drop=True, send=False, **{"*": False}), {"default": "allow"}, {}):
        assert kind(POLICY, context, "drop") == "deny"
        assert kind(POLICY, context, "send") == "review"
        assert kind(POLICY, context, "other") == "review"


def test_only_decisions_that_both_allow_remain() -> None:
    context = rules(send={"allowed_decisions": ["respond", "reject", "approve"]})
    assert judge(POLICY, context, "send").allowed_decisions == ("approve", "reject")
    fix = Policy.from_mapping(
        {"default": "allow", "interrupt_on": {"fix": {"allowed_decisions": ["edit"]}}}
    )
    nothing = judge(fix, rules(fix={"allowed_decisions": ["approve", "reject"]}), "fix")
    assert nothing.verdict.kind == "deny"
    assert "allow no decision together" in nothing.verdict.reason


def test_both_schemas_and_every_reason_count() -> None:
    schema = {"type": "object", "required": ["cc"]}
    ruling = judge(POLICY, rules(send={"args_schema": schema, "reject_reason": "required"}), "send")
    assert ruling.args_schema == {
        "type": "object",
        "allOf": [{"type": "object", "required": ["to"]}, schema],
    }
    assert (ruling.reject_reason, ruling.idempotent) == ("required", True)


def test_schemas_that_can_not_be_checked_together_deny() -> None:
    """Each is valid alone, but together a `$ref` of one finds nothing, so no form is possible."""
    named = {"$ref": "#/$defs/to", "$defs": {"to": {"type": "object"}}}
    ruling = judge(POLICY, rules(send={"args_schema": named}), "send")
    assert (ruling.verdict.kind, ruling.allowed_decisions) == ("deny", ())
    assert "can't be checked by the schemas of the policy and the context" in ruling.verdict.reason


SECRET = {"type": "object", "properties": {"to": {"type": "string", "writeOnly": True}}}
FORBIDDEN: list[dict[str, Any]] = [
    {"redact": ["/query"]},
    {
        "answer_schema": {"enum": ["Cancel, do not run this", "Yes"]},
        "allowed_decisions": ["approve", "reject"],
    },
    {"allowed_decisions": ["approve"]},
    {"allowed_decisions": ["approve", "edit", "ignore"]},
    {"description": "Checked by the security team."},
    {"idempotent": True},
    {"notify": "slack:#my-friends"},
    {"escalate": [{"after": "1m", "to": "slack:#my-friends"}]},
    {"remind": "1d"},
    {"clock": "delivered"},
    {"fallback": "slack:#my-friends"},
    {"expire": {"after": "1s"}},
]


@pytest.mark.parametrize("rule", FORBIDDEN, ids=[next(iter(rule)) for rule in FORBIDDEN])
def test_a_context_changes_nothing_that_people_see(rule: dict[str, Any]) -> None:
    """It is refused at submit, with the key, and not ignored."""
    word = next(iter(rule))
    with pytest.raises(InvalidPolicy) as caught:
        POLICY.for_run(rules(send=rule))
    assert str(caught.value).startswith(f"context: send.{word}: ")
    assert f"`{'reject' if word == 'allowed_decisions' else word}`" in str(caught.value)


@pytest.mark.parametrize("policy", [POLICY, LOOSE])
def test_the_operators_opt_in_hides_nothing_either(policy: Policy) -> None:
    for rule in (FORBIDDEN[0], FORBIDDEN[1], FORBIDDEN[2]):
        with pytest.raises(InvalidPolicy):
            policy.for_run(rules(send=rule))
    ruling = judge(policy, rules(send={"args_schema": SECRET}), "send")
    assert (ruling.policy_schema or {}).get("properties") is None
    assert "reject" in judge(policy, rules(send=True), "send").allowed_decisions


@pytest.mark.parametrize(
    ("dialect", "context"),
    [
        ("langchain", {"description_prefix": "x"}),
        ("langchain", {"interrupt_on": {"b": {"allowed_decisions": ["approve"]}}}),
        (
            "langchain",
            {
                "interrupt_on": {
                    "b": {"allowed_decisions": ["approve", "reject"], "description": "x"}
                }
            },
        ),
        ("langchain_per_call", {"description_prefix": "x"}),
        ("langchain_js", {"interruptOn": {"b": {"allowedDecisions": ["approve", "edit"]}}}),
        ("xpertai", {"interruptOn": {"b": {"allowedDecisions": ["approve"]}}}),
        ("arcgis", {"tools": {"b": {"interrupt": {"kind": "singleSelection", "options": ["No"]}}}}),
        ("arcgis", {"tools": {"b": {"interrupt": "Checked by the security team."}}}),
        ("arcgis", {"tools": {"b": {"outputKey": "amount"}}}),
    ],
)
def test_no_dialects_context_does_either(dialect: Any, context: Any) -> None:
    config: dict[str, Any] = {
        "langchain_js": {"interruptOn": {"b": True}},
        "xpertai": {"interruptOn": {"b": True}},
        "arcgis": {"tools": {"b": {}}},
    }.get(dialect, {"interrupt_on": {"b": True}})
    policy = dialects.get(dialect).load_policy(config)
    with pytest.raises(InvalidPolicy, match="A run's own configuration"):
        policy.for_run(context)


def test_with_the_policy_s_word_what_a_context_says_of_a_tool_counts() -> None:
    context = rules(send=False, drop=True, other={"when": {"required": ["x"]}})
    assert kind(LOOSE, context, "send") == "allow"
    assert kind(LOOSE, context, "drop") == "review"
    assert kind(LOOSE, context, "look") == "allow"  # it says nothing of this one
    assert kind(LOOSE, {"default": "allow"}, "drop") == "allow"
    assert kind(LOOSE, {}, "send") == "review"


def test_a_prefix_of_its_own_needs_the_policy_s_word() -> None:
    """And then the card shows it as the agent's."""
    with pytest.raises(InvalidPolicy, match="description_prefix"):
        POLICY.for_run({"description_prefix": "Careful today"})
    ruling = judge(LOOSE, {"description_prefix": "Careful today", **rules(send=True)}, "send")
    assert (ruling.description, ruling.by_agent) == ("Careful today", True)
    assert judge(POLICY, rules(), "send").description == "Tool execution requires approval"


@pytest.mark.parametrize(
    ("context", "text"),
    [
        ({"interupt_on": {}}, "context: interupt_on: `interupt_on` is not allowed here"),
        ({"allow_override": True}, "context: allow_override: "),
        ({"interrupt_on": {"a": 1}}, "context: interrupt_on.a: A rule must be "),
        ([], "context: This must be a mapping"),
    ],
)
def test_a_context_that_can_not_be_read_is_refused(context: Any, text: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        POLICY.for_run(context)
    assert str(caught.value).startswith(text)


def test_xpertai_replaces_the_map_where_the_policy_allows_it() -> None:
    """Its `{}` turns every gate off, but only with the switch."""
    config = {"interruptOn": {"b": True}}
    xpertai = dialects.get("xpertai")
    strict = xpertai.load_policy(config)
    loose = xpertai.load_policy({**config, "allowOverride": True})
    call = ToolCall("1", "b", {})
    for context in ({"interruptOn": {}}, {"interruptOn": {"a": True}}):
        assert strict.for_run(context).judge(call).verdict.kind == "review"
        assert loose.for_run(context).judge(call).verdict.kind == "allow"
    assert loose.for_run({"descriptionPrefix": "x"}).judge(call).verdict.kind == "review"


KINDS = ("allow", "review", "deny")
RULES = st.dictionaries(
    st.sampled_from(["a", "b", "a*", "*"]), st.sampled_from([True, False, "deny"])
)


@given(RULES, RULES, st.sampled_from(KINDS), st.sampled_from([None, *KINDS]))
def test_no_context_ever_loosens(own: Any, run: Any, default: str, other: str | None) -> None:
    own = {k: v for k, v in own.items() if k != "*"}  # or a rule behind it could never match
    run = {k: v for k, v in run.items() if k != "*"}
    policy = Policy.from_mapping({"default": default, "interrupt_on": own})
    context: dict[str, Any] = {"interrupt_on": run} | ({"default": other} if other else {})
    for tool in ("a", "ab", "b", "c"):
        before = KINDS.index(policy.judge(ToolCall("1", tool, {})).verdict.kind)
        assert KINDS.index(kind(policy, context, tool)) >= before


def test_a_context_replaces_no_part_that_the_policy_refers_to() -> None:
    """Given a policy's schema that refers to a part of its own, when a context's schema is added,
    then that part is not looked up in both: the call is denied."""
    own = {
        "properties": {"amount": {"$ref": "#/allOf/1/properties/total"}},
        "allOf": [{}, {"properties": {"total": {"maximum": 100, "readOnly": True}}}],
    }
    config = {"default": "deny", "interrupt_on": {"pay": {"args_schema": own}}}
    theirs = {"pay": {"args_schema": {"properties": {"total": {}}}}}
    for override in (False, True):
        policy = Policy.from_mapping({**config, "allow_override": override})
        ruling = judge(policy, {"interrupt_on": theirs}, "pay", amount=5)
        assert ruling.verdict.kind == "deny"
        assert "a `$ref` in one of them would have another target" in ruling.verdict.reason


def test_two_schemas_with_a_reference_are_checked_by_nothing() -> None:
    """Also if an edit or an interrupt combines them: no argument is valid, and none is shown."""
    both = combine_schemas(
        {"properties": {"a": {"$ref": "#"}}}, {"properties": {"b": {"format": "password"}}}
    )
    with pytest.raises(SchemaError):
        check_args(both, {})
    assert is_hiding_unclear([both], {"c": 1})


def test_promise_12_an_override_gives_nobody_a_right() -> None:
    """Whatever a context overrides, the same people decide, under the same rules."""
    strict: dict[str, Any] = {
        "must_read": True,
        "confirm": True,
        "reject_reason": "required",
        "reviewers": {"users": ["U0ANN", "U0BOB"], "quorum": 2, "exclude_requester": True},
        "notify": "slack:#fin",
        "expire": {"after": "1h"},
        "args_schema": {"properties": {"a": {"readOnly": True}}},
    }
    policy = Policy.from_mapping(
        {"default": "review", "allow_override": True, "interrupt_on": {"pay": strict}}
    )
    alone = policy.judge(ToolCall("1", "pay", {}))
    eve: dict[str, Any] = {"users": ["U0EVE"], "exclude_requester": False, "editor_approves": True}
    for message in (True, {"reviewers": eve}, {"args_schema": {"properties": {"a": {}}}}):
        ruling = judge(policy, rules(pay=message), "pay")
        assert ruling.verdict.kind == "review"
        assert (ruling.route, ruling.needs_requester) == (alone.route, True)
        assert (ruling.must_read, ruling.confirm, ruling.reject_reason) == (True, True, "required")
        assert find_changed_fixed([ruling.args_schema], {"a": 1}, {"a": 2}) == ("a",)


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        ({"interrupt_on": {f"t{n}*": True for n in range(1500)}}, "interrupt_on: A run's own"),
        ({f"k{n}": 1 for n in range(1500)}, "100 entries here, not 1,500"),
        (rules(send={"allowed_decisions": ["x"] * 1500}), "100 entries here, not 1,500"),
    ],
)
def test_a_context_has_few_entries_in_one_place(context: dict[str, Any], reason: str) -> None:
    """HTTP c: what takes long to read is counted first."""
    with pytest.raises(InvalidPolicy, match=reason):
        POLICY.for_run(context)


def test_of_a_context_twenty_problems_are_enough() -> None:
    """HTTP c: each problem costs a search for what was meant."""
    wrong = {f"tool_{n}": {f"k{key}": 1 for key in range(90)} for n in range(90)}
    with pytest.raises(InvalidPolicy) as caught:
        POLICY.for_run(rules(**wrong))
    assert len(caught.value.problems) == 20


def test_the_globs_of_a_context_are_not_compared_with_each_other() -> None:
    """HTTP c: a rule that never matches makes nothing looser, and the first that matches speaks."""
    context = rules(**{"lo*": "deny", "loo*": False})
    assert kind(POLICY, context, "look") == "deny"


def test_all_checks_of_a_context_have_one_budget_for_all_calls_of_a_turn() -> None:
    """HTTP b: 90 calls, each checked in half a budget. Given that the first of them are not met, then those
    beyond the budget are asked about.
    """
    when = {"properties": {"a": {"contains": {"const": "x"}}}, "required": ["a"]}
    run = LOOSE.for_run(rules(look={"when": when, "allowed_decisions": ["approve", "reject"]}))
    calls = [ToolCall(str(n), "look", {"a": list(range(1000))}) for n in range(90)]
    kinds = [run.judge(call).verdict.kind for call in calls]
    assert kinds[:3] == ["allow"] * 3
    assert kinds[-3:] == ["review"] * 3
    assert sorted(kinds) == kinds  # once it is spent it stays so


def test_a_check_beyond_the_budget_takes_no_gate_away() -> None:
    """HTTP b: given a policy that a context may override, and a rule of the context that lets calls pass."""
    when = {"properties": {"a": {"contains": {"const": "x"}}}, "required": ["a"]}
    run = LOOSE.for_run(
        {
            "interrupt_on": {"se*": {"allowed_decisions": ["approve", "reject"], "when": when}},
            "default": "allow",
        }
    )
    calls = [ToolCall(str(n), "send", {"a": list(range(1000))}) for n in range(90)]
    kinds = [run.judge(call).verdict.kind for call in calls]
    assert (kinds[0], kinds[-1]) == ("allow", "review")


def test_a_context_of_long_globs_and_many_people_is_read_in_few_steps() -> None:
    """Attack 1, 2: whatever would be compared with everything before it is counted first."""
    globs: dict[str, Any] = {"*a" * 100 + f"{n:03d}": "deny" for n in range(100)}
    assert kind(POLICY, rules(**globs), "a" * 128) == "review"
    people = {"users": [f"U0{n}" for n in range(101)]}
    for many in ({"reviewers": people}, {"redact": ["/a"] * 101}):
        with pytest.raises(InvalidPolicy, match="100 entries here, not 101"):
            POLICY.for_run(rules(send=many))


@pytest.mark.parametrize("override", [True, False])
@pytest.mark.parametrize("run", [True, False, None])
@pytest.mark.parametrize("ours", [True, False, None])
def test_a_run_can_require_must_read_and_never_drop_it(
    ours: bool | None, run: bool | None, override: bool
) -> None:
    """Without a word of the policy, what a card cuts must be read."""
    rule = {} if ours is None else {"must_read": ours}
    config = {"default": "allow", "allow_override": override, "interrupt_on": {"pay": rule}}
    words = {} if run is None else {"must_read": run}
    policy = Policy.from_mapping(config).for_run({"interrupt_on": {"pay": words}})
    made = policy.judge(ToolCall("c", "pay", {}))
    assert made.needs_reading == (ours is not False or run is True)


def test_a_run_never_says_how_values_are_shown() -> None:
    policy = Policy.from_mapping({"default": "review"})
    with pytest.raises(InvalidPolicy, match="display"):
        policy.for_run({"interrupt_on": {"pay": {"display": {"/to": "code"}}}})
