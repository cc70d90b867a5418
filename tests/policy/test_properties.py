"""What is true for every valid policy and every valid call."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hitl_core.model import DECISION_TYPES, ToolCall
from hitl_core.policy import InvalidPolicy, Policy

names = st.text("ab_.", min_size=1, max_size=4)
globs = st.text("ab_*?", min_size=1, max_size=4)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["\ud800"])
    | st.text(max_size=5)
)
json = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)
args = st.dictionaries(names, json, max_size=4)


def fails(_: dict[str, Any]) -> bool:
    raise LookupError


whens = st.sampled_from(
    [fails, lambda _: False, {"required": ["a"]}, {"properties": {"a": {"type": "string"}}}]
)
decisions = st.lists(st.sampled_from(DECISION_TYPES), max_size=3)
rules = st.sampled_from([True, False, "deny"]) | st.fixed_dictionaries(
    {}, optional={"when": whens, "allowed_decisions": decisions, "description": st.text(max_size=3)}
)
configs = st.fixed_dictionaries(
    {
        "default": st.sampled_from(["allow", "review", "deny"]),
        "interrupt_on": st.dictionaries(names | globs, rules, max_size=5),
    }
)


@given(configs, st.lists(st.builds(ToolCall, st.just("c1"), names, args), max_size=4))
def test_every_call_gets_one_verdict_and_a_review_can_always_be_decided(
    config: dict[str, Any], calls: list[ToolCall]
) -> None:
    with contextlib.suppress(InvalidPolicy):
        policy = Policy.from_mapping(config)
        for call in calls:
            ruling = policy.judge(call)
            assert ruling.verdict.kind in ("allow", "review", "deny")
            assert ruling.verdict.reason
            assert ruling.description
            assert bool(ruling.allowed_decisions) == (ruling.verdict.kind == "review")


@given(names, st.lists(globs, unique=True, max_size=5), args, st.booleans())
def test_an_exact_name_beats_every_glob_in_any_order(
    name: str, others: list[str], arguments: dict[str, Any], first: bool
) -> None:
    around = dict.fromkeys((glob for glob in others if glob != name), False)
    exact = {name: "deny"}
    ordered = {**exact, **around} if first else {**around, **exact}
    with contextlib.suppress(InvalidPolicy):
        policy = Policy.from_mapping({"default": "allow", "interrupt_on": ordered})
        assert policy.judge(ToolCall("c1", name, arguments)).verdict.rule == name


@given(st.text(max_size=60))
def test_any_text_is_a_policy_or_a_policy_error(text: str) -> None:
    with contextlib.suppress(InvalidPolicy):
        Policy.from_yaml("default: review\ninterrupt_on:\n  " + text)


@given(st.dictionaries(st.text(max_size=5) | st.sampled_from(["default", "interrupt_on"]), json))
def test_any_mapping_is_a_policy_or_a_policy_error(config: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidPolicy):
        Policy.from_mapping(config)
