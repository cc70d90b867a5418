"""Which decisions an interrupt offers: each dialect, each decision, each way to end, in its own format."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.api.interrupts import judge_interrupt
from bot.api.review_view import to_review_out
from bot.api.submissions import JudgedTurn
from bot.web.problems import ApiProblem
from hitl_core import dialects
from hitl_core.dialects.answerable_decisions import limit_decisions
from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.errors import DialectError
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, ToolCall, encode
from hitl_core.model.review import DIALECTS
from hitl_core.policy import Policy
from hitl_core.review import decisions, escalation
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

Json = dict[str, Any]
ARGS = {"n": 1}


def batch(*allowed: str) -> Json:
    return {
        "action_requests": [{"name": "ask", "args": ARGS}],
        "review_configs": [{"action_name": "ask", "allowed_decisions": list(allowed)}],
    }


def camel(*allowed: str) -> Json:
    return {
        "actionRequests": [{"name": "ask", "args": ARGS}],
        "reviewConfigs": [{"actionName": "ask", "allowedDecisions": list(allowed)}],
    }


def per_call(*allowed: str) -> Json:
    branches = [{"type": "object", "properties": {"type": {"const": each}}} for each in allowed]
    value = {"type": "tool_approval", "tool_call_id": "c1", "name": "ask", "args": ARGS}
    return {"id": "i1", "value": value, "response_schema": {"oneOf": branches}}


def approval(*allowed: str) -> Json:
    return {
        "action_requests": [{"tool_call_id": "c1", "tool_name": "ask", "arguments": ARGS}],
        "review_configs": {"ask": {"allowed_decisions": list(allowed)}},
        "hitl_tool_call_ids": ["c1"],
    }


def question(kind: str, *more: str) -> Json:
    options = [] if kind == "freeform" else [{"label": "A", "value": "a"}]
    return {
        "type": "ask_user_question",
        "question": "Which one?",
        "response_type": kind,
        "options": options,
        "allow_other": "other" in more,
        "allow_cancel": "cancel" in more,
        "tool_call_id": "q1",
    }


def inbox(*flags: str) -> list[Json]:
    names = ("accept", "edit", "respond", "ignore")
    config = {f"allow_{name}": name in flags for name in names}
    return [{"action_request": {"action": "ask", "args": ARGS}, "config": config}]


def arcgis(kind: str, *options: Any) -> Json:
    return {
        "id": "i1",
        "agentId": "map",
        "kind": kind,
        "message": "Which one?",
        "metadata": {"options": list(options)},
    }


MAKERS = {
    "langchain": batch,
    "langchain_js": camel,
    "xpertai": camel,
    "langchain_per_call": per_call,
    "sagents": approval,
    "question": question,
    "agent_inbox": inbox,
    "arcgis": arcgis,
}


ALL = ["approve", "edit", "reject", "respond", "ignore"]
YES = ["approve", "edit", "respond"]


def expiring(decision: str, message: str | None = None) -> Json:
    text = {"message": message} if message else {}
    return {"allowed_decisions": YES, "expire": {"after": "1h", "decision": decision, **text}}


#: The rule, and a person's decision; None: time or the policy decides.
ENDINGS: dict[str, tuple[Any, Json | None]] = {
    "approve": ({"allowed_decisions": ["approve"]}, {}),
    "edit": ({"allowed_decisions": ["edit"]}, {"args": encode({"n": 2})}),
    "reject": ({"allowed_decisions": ["reject"]}, {}),
    "why": ({"allowed_decisions": ["reject"], "reject_reason": "required"}, {"message": "why"}),
    "respond": ({"allowed_decisions": ["respond"]}, {"answer": "a"}),
    "ignore": ({"allowed_decisions": ["ignore"]}, {}),
    "late: reject": (expiring("reject"), None),
    "late: ignore": (expiring("ignore"), None),
    "late: x": (expiring("respond", "x"), None),
    "late: a": (expiring("respond", "a"), None),
    "deny": ("deny", None),
}

#: A row: the interrupt, by its dialect and what it takes. A cell: the answer's type (or its payload), and

#: what it says; "…" is a sentence of ours. "-": the interrupt is refused under this rule.
TABLE = Path(__file__).with_name("offer.txt").read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


HEAD, *ROWS = map(cells, TABLE.splitlines())


@pytest.mark.parametrize(
    ("interrupt", "ending", "word"),
    [(row[0], *each) for row in ROWS for each in zip(HEAD[1:], row[1:], strict=True)],
)
def test_each_ending_has_the_answer_of_the_table_or_is_never_offered(
    interrupt: str, ending: str, word: str
) -> None:
    """Given an interrupt, and a rule that allows this ending only; when a person, the
    deadline or the policy ends it so; then its system gets the answer of the table. If there is none, it was
    not offered."""
    system, *takes = interrupt.split()
    review = submit(system, MAKERS[system](*takes), ENDINGS[ending][0])
    if word == "-":
        assert review is None
    else:
        assert review is not None
        assert short(to_review_out(end(review, ending)).resume) == word


def test_the_table_has_every_dialect() -> None:
    systems = {row[0].split()[0] for row in ROWS}
    assert systems == {*DIALECTS, "question"}


@pytest.mark.parametrize(
    ("interrupt", "rule", "offered"),
    [
        # What the interrupt takes and the rule allows, in the interrupt's order.
        (
            "langchain reject approve",
            {"allowed_decisions": ["approve", "reject"]},
            "<reject approve> of reject approve",
        ),
        # A rule that allows a no never ends up with a yes only.
        ("langchain approve", {"allowed_decisions": ["approve", "reject"]}, "can't receive that"),
        ("langchain edit", {"allowed_decisions": ["edit", "reject"]}, "can't receive that"),
        ("langchain approve", {"allowed_decisions": ["approve", "ignore"]}, "can't receive that"),
        # If nothing can be approved, no `no` is needed.
        ("langchain respond", {"allowed_decisions": ["respond", "reject"]}, "<respond> of respond"),
        # A rule without a `no`, and an interrupt without a rule, need none.
        (
            "langchain approve reject",
            {"allowed_decisions": ["approve"]},
            "<approve> of approve reject",
        ),
        ("langchain approve", True, "<approve> of approve"),
        # A system without `skip` gets a rejection.
        (
            "langchain approve reject",
            {"allowed_decisions": ["approve", "ignore"]},
            "approve ignore",
        ),
        ("sagents approve reject", {"allowed_decisions": ["ignore"]}, "<ignore> of approve reject"),
        # No decision that both sides allow can be expressed.
        ("sagents respond", {"allowed_decisions": ["respond"]}, "sagents can't receive respond"),
        # A text of the policy is not a person's answer.
        (
            "arcgis textInput",
            {**expiring("respond", "Nobody was there")},
            "would respond `agent:map` with 'Nobody was there', but arcgis can't receive that",
        ),
        (
            "langchain approve",
            expiring("reject"),
            "would reject `ask`, but langchain can't receive that",
        ),
        ("langchain approve", "deny", "accepts no rejection of it, only approve"),
    ],
)
def test_only_decisions_of_both_rule_and_interrupt_are_offered(
    interrupt: str, rule: Any, offered: str
) -> None:
    """Given a rule and an interrupt; then people are offered these decisions, or the
    error refuses it."""
    system, *takes = interrupt.split()
    rules = {} if rule is True else {"*": rule}
    assert offered in outcome(system, MAKERS[system](*takes), rules)


def outcome(system: str, interrupt: Any, rules: Json) -> str:
    """The allowed decisions as one text, or why there are none."""
    try:
        [ruling] = judge(system, interrupt, rules).request.rulings
    except (DialectError, ApiProblem) as error:
        return str(error)
    return f"<{' '.join(ruling.allowed_decisions)}> of {' '.join(ruling.accepted_decisions)}"


def test_a_call_that_nobody_is_asked_about_is_left_as_it_is() -> None:
    """Given a turn of three calls, the interrupt about the second only; then only that one has a request."""
    calls = [ToolCall("c0", "look", {}), ToolCall("c1", "ask", ARGS), ToolCall("c2", "look", {})]
    made = judge("langchain", batch("approve", "reject"), {}, calls).request
    assert [ruling.verdict.kind for ruling in made.rulings] == ["allow", "review", "allow"]
    assert [ruling.accepted_decisions for ruling in made.rulings] == [(), ("approve", "reject"), ()]


@pytest.mark.parametrize(
    ("system", "named"),
    [
        ("langchain", {"ask", "other"}),
        ("langchain_js", {"ask", "other"}),
        ("xpertai", {"ask", "other"}),
        ("langchain_per_call", set[str]()),
        ("sagents", set[str]()),
        ("agent_inbox", set[str]()),
    ],
)
def test_an_edit_may_name_another_tool_only_where_its_system_takes_that(
    system: str, named: set[str]
) -> None:
    takes = ("accept", "edit") if system == "agent_inbox" else ("approve", "edit")
    asked = dialects.get(system).load_request(MAKERS[system](*takes), "t")
    tools: dict[str, Any] = {"ask": None, "other": None}
    made = asyncio.run(apply_policy(Policy.from_mapping({"default": "allow"}), asked, tools=tools))
    assert {*limit_decisions(dialects.get(system), made, asked).calls.tools} == named


def submit(system: str, interrupt: Any, rule: Any) -> Review | None:
    """As the HTTP API does. None: it is refused."""
    try:
        return judge(system, interrupt, {"*": rule}).build(
            ReviewKey("a", "t", "m1", None), 1, START
        )[0]
    except (DialectError, ApiProblem):
        return None


def judge(system: str, interrupt: Any, rules: Json, calls: Sequence[ToolCall] = ()) -> JudgedTurn:
    name = "sagents" if system == "question" else system
    asked = dialects.get(name).load_request(interrupt, "t", calls)
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": rules})
    return JudgedTurn(*judge_interrupt(asyncio.run(apply_policy(policy, asked)), asked))


def end(review: Review, ending: str) -> Review:
    [action] = review.actions
    does: Json | None = ENDINGS[ending][1]
    if does is None:
        return escalation.apply_due(review, START + 7200).review if action.is_pending else review
    asked = action.config.answer_schema or {}
    if does.get("answer") == "a" and asked.get("type") == "array":
        does = Json(answer=["a"])
    [kind] = action.config.allowed_decisions
    proposal = Proposal(kind, 1, **does)
    return decisions.decide(review, "1", proposal, person("Ada"), START + 5).review


def short(answer: Any) -> str:
    if isinstance(answer, list):
        [answer] = answer
    if "payload" in answer:
        return json.dumps(answer["payload"])
    answer = answer.get("i1", answer)
    [word] = answer.get("decisions", [answer])
    says = word.get("message") or word.get("other_text") or ""
    if "selected" in word:
        says = "+".join([*word["selected"], says] if says else word["selected"])
    for key in ("edited_action", "editedAction", "args", "arguments"):
        value = word.get(key) or says
        if isinstance(value, dict):
            value = json.dumps(value.get("args", value), separators=(",", ":"))
        says = value
    return f"{word['type']}:{says if len(says) < 10 else '…'}" if says else word["type"]
