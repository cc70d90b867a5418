"""Arguments with which a `when` fails: the agent that sends them gains nothing."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core import Policy, ToolCall
from hitl_core.jsonschema import find_hidden
from hitl_core.policy import Ruling

SQL = "DELETE FROM users; --"


def ruling(config: dict[str, Any], name: str, **args: Any) -> Ruling:
    return Policy.from_mapping(config).judge(ToolCall("c1", name, args))


@pytest.mark.parametrize(
    "property",
    [
        {"pattern": "(?i).*delete.*"},
        {"pattern": "(?i)delete.*from.*users"},
        {"pattern": r"(?is)\s*delete\s+from\s"},
        {"format": "uri"},
    ],
)
@pytest.mark.parametrize("padding", [0, 300, 4_000, 20_000])
def test_promise_1_padding_opens_no_gate(property: dict[str, str], padding: int) -> None:
    """Given a rule that looks at a text; when it is made too long to be looked at; then people are asked."""
    when = {"properties": {"query": property}, "required": ["query"]}
    config = {"default": "allow", "interrupt_on": {"run_sql": {"when": when}}}
    text = "https://example.com/" if "format" in property else SQL
    end = "a" if "format" in property else " "
    assert ruling(config, "run_sql", query=text + end * padding).verdict.kind == "review"


#: No `when` is ever checked beside such a number.
JUNK = {"memo": 10**3000}
SMALL = {"properties": {"amount": {"maximum": 100}, "memo": {"multipleOf": 1}}}


def test_promise_1_a_when_that_fails_beats_no_denial() -> None:
    config = {"default": "deny", "interrupt_on": {"pay": {"when": SMALL}}}
    assert ruling(config, "pay", amount=50).verdict.kind == "review"
    assert ruling(config, "pay", amount=1_000).verdict.kind == "deny"
    assert ruling(config, "pay", amount=1_000, **JUNK).verdict.kind == "deny"


@pytest.mark.parametrize("default", ["allow", "review"])
def test_a_when_that_fails_asks_unless_another_rule_denies(default: str) -> None:
    rule = {"when": SMALL, "allowed_decisions": ["approve", "reject"]}
    found = ruling({"default": default, "interrupt_on": {"pay": rule}}, "pay", amount=1, **JUNK)
    assert found.verdict.kind == "review"
    assert found.verdict.rule == "pay"
    assert found.allowed_decisions == ("approve", "reject")
    assert "Its `when` failed" in found.verdict.reason


def test_promise_7_a_when_that_fails_chooses_nobody() -> None:
    """Given small payments that #interns decide and others that #managers do; when nobody can tell which this
    is; then neither is asked, and it does not run."""
    rules = {
        "pay": {"when": SMALL, "notify": "slack:#interns"},
        "pa*": {"notify": "slack:#managers"},
    }
    config = {"default": "deny", "interrupt_on": rules}
    assert ruling(config, "pay", amount=1).route.notify == ("slack:#interns",)
    assert ruling(config, "pay", amount=1_000).route.notify == ("slack:#managers",)
    found = ruling(config, "pay", amount=1_000, **JUNK)
    assert found.verdict.kind == "deny"
    assert "Another rule asks other people" in found.verdict.reason


def test_of_two_failed_rules_both_apply() -> None:
    rules = {
        "pay": {"when": SMALL, "allowed_decisions": ["approve", "reject"]},
        "pa*": {"when": SMALL, "allowed_decisions": ["edit", "reject"]},
    }
    found = ruling({"default": "allow", "interrupt_on": rules}, "pay", amount=1, **JUNK)
    assert (found.verdict.kind, found.allowed_decisions) == ("review", ("reject",))


CHAIN: dict[str, Any] = {
    "escalate": [{"after": "1s", "to": "slack:#everybody", "reviewers": {"users": ["U0EVE"]}}]
}


@pytest.mark.parametrize(
    "other", [CHAIN, {"fallback": "slack:#friends"}, {"clock": "delivered"}], ids=lambda o: next(iter(o))
)  # fmt: skip
def test_promise_7_a_when_that_fails_does_not_escalate_as_another_rule_says(
    other: dict[str, Any],
) -> None:
    """Given two rules that ask the same people and then continue differently, when nobody can tell which of
    them speaks, then neither way is taken."""
    rules = {"pay": {"when": SMALL}, "pa*": other}
    config = {"default": "deny", "notify": "slack:#fin", "interrupt_on": rules}
    found = ruling(config, "pay", amount=1, **JUNK)
    assert found.verdict.kind == "deny"
    assert "Another rule asks other people" in found.verdict.reason


@pytest.mark.parametrize("swapped", [False, True])
def test_a_when_that_fails_extends_no_deadline_and_allows_no_second_run(swapped: bool) -> None:
    one: dict[str, Any] = {"expire": {"after": "1h", "decision": "ignore"}, "remind": "1h"}
    two: dict[str, Any] = {"expire": {"after": "2h"}, "remind": "2h", "idempotent": True}
    first, second = (two, one) if swapped else (one, two)
    rules = {"pay": {"when": SMALL, **first}, "pa*": second}
    found = ruling({"default": "deny", "interrupt_on": rules}, "pay", amount=1, **JUNK)
    assert found.route.expire is not None
    assert (found.route.expire.after, found.route.expire.decision) == (3600, "reject")
    assert (found.route.remind, found.idempotent) == (3600, False)


def test_a_when_that_fails_asks_one_question_with_its_own_place() -> None:
    asks = {
        "allowed_decisions": ["approve", "reject"],
        "answer_schema": {"type": "string"},
        "output": {"key": "seat", "into": "input"},
    }
    rules = {"pay": {"when": SMALL, **asks}, "pa*": True}
    config = {"default": "deny", "interrupt_on": rules}
    found = ruling(config, "pay", amount=1, **JUNK)
    assert found.answer_schema == {"type": "string"}
    assert found.output is not None
    other = {**asks, "output": {"key": "row", "into": "input"}}
    config = {"default": "deny", "interrupt_on": {**rules, "pa*": other}}
    assert ruling(config, "pay", amount=1, **JUNK).verdict.kind == "deny"


HIDES = {"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}}
#: By the field of a ruling: how a rule says it, and how to see that it holds for both.
STRICTER: dict[str, tuple[dict[str, Any], Any]] = {
    "policy_schema": ({"args_schema": HIDES}, lambda r: "writeOnly" in str(r.policy_schema)),
    "args_schema": ({"args_schema": HIDES}, lambda r: "pin" in str(r.args_schema)),
    "redact": ({"redact": ["/pin"]}, lambda r: r.redact == ("/pin",)),
    "must_read": ({"must_read": True}, lambda r: r.needs_reading),
    "confirm": ({"confirm": True}, lambda r: r.confirm),
    "hide_when_decided": ({"hide_when_decided": True}, lambda r: r.hide_when_decided),
    "reject_reason": ({"reject_reason": "required"}, lambda r: r.reject_reason == "required"),
    "allowed_decisions": (
        {"allowed_decisions": ["approve", "reject"]},
        lambda r: r.allowed_decisions == ("approve", "reject"),
    ),
    "idempotent": ({"idempotent": False}, lambda r: not r.idempotent),
    "route": (
        {"reviewers": {"channel_members": True, "quorum": 3}},
        lambda r: (r.verdict.kind, r.route.reviewers.quorum) in (("review", 3), ("deny", 1)),
    ),
    "needs_requester": (
        {"reviewers": {"channel_members": True, "exclude_requester": True}},
        lambda r: r.needs_requester or r.verdict.kind == "deny",
    ),
    "answer_schema": (
        {"allowed_decisions": ["respond"], "answer_schema": {"type": "string"}},
        lambda r: r.answer_schema == {"type": "string"} or r.verdict.kind == "deny",
    ),
    "output": (
        {
            "allowed_decisions": ["approve", "reject"],
            "answer_schema": {"type": "string"},
            "output": {"key": "why", "into": "state"},
        },
        lambda r: r.output is not None,
    ),
}
#: Words, the verdict itself, and what is the same for all rules of a policy.
OTHERS = {
    "verdict", "description", "text", "title", "interrupt_id", "accepted_decisions", "extra", "by_agent",
    "computed",
    "line", "says_reviewers", "says_description", "unsure", "says_no", "trusts_tools", "hiding_schema",
    "display", "answer_by_agent",
}  # fmt: skip


@pytest.mark.parametrize("field", Ruling._fields)
@pytest.mark.parametrize("last", [True, False])
def test_a_when_that_fails_drops_nothing_of_either_rule(field: str, last: bool) -> None:
    """Given two rules of which one is stricter in a field of a Ruling, when the first one's `when`
    fails, then that field is as strict, in either rule."""
    if field in OTHERS:
        return
    says, holds = STRICTER[field]
    loose: dict[str, Any] = {"idempotent": True, "must_read": False}
    strict = {**loose, **says}
    rules = {
        "pay": {**(loose if last else strict), "when": SMALL},
        "pa*": strict if last else loose,
    }
    config = {"default": "deny", "interrupt_on": rules}
    assert holds(ruling(config, "pay", amount=1, pin="1", **JUNK))


@pytest.mark.parametrize("default", ["allow", "review"])
def test_a_when_that_fails_keeps_hidden_what_its_rule_hides(default: str) -> None:
    """Arguments too large for a `when` must not show more."""
    rules = {"pay": {"when": SMALL, "args_schema": HIDES}}
    found = ruling({"default": default, "interrupt_on": rules}, "pay", amount=1, pin="1", **JUNK)
    assert find_hidden([found.policy_schema], {"pin": "1"}) == [("pin",)]


def test_a_when_that_fails_lets_run_twice_only_what_both_do() -> None:
    """Also where the rule that may speak instead allows the call without asking."""
    rules = {"pay": {"when": SMALL, "idempotent": True}, "pa*": False}
    assert not ruling(
        {"default": "deny", "interrupt_on": rules}, "pay", amount=1, **JUNK
    ).idempotent


def test_two_schemas_that_can_not_be_put_together_ask_nobody() -> None:
    refers = {"properties": {"pin": {"$ref": "#/$defs/pin"}}, "$defs": {"pin": {"writeOnly": True}}}
    rules = {"pay": {"when": SMALL, "args_schema": refers}, "pa*": {"args_schema": HIDES}}
    found = ruling({"default": "deny", "interrupt_on": rules}, "pay", amount=1, pin="1", **JUNK)
    assert found.verdict.kind == "deny"
