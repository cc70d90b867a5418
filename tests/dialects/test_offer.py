"""What people are offered of an interrupt: each dialect, each decision, each ending, in its own words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.api.interrupts import judge_interrupt
from bot.api.review_view import to_review_out
from bot.api.submissions import JudgedTurn
from bot.web.problems import ApiProblem
from hitl_core import dialects
from hitl_core.dialects import langchain
from hitl_core.dialects.answerable_decisions import denial_type, limit_decisions
from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.dialects.base import Dialect
from hitl_core.dialects.parts.batch import Batch
from hitl_core.dialects.parts.decisions import FinalDecision
from hitl_core.errors import DialectError
from hitl_core.gate.submission.calls import JudgedCalls
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Action, Review, ToolCall, encode
from hitl_core.model.dialect import DIALECTS
from hitl_core.policy import Policy
from hitl_core.review import decisions, timers
from hitl_core.review.proposal import Proposal
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
    said = {"message": message} if message else {}
    return {"allowed_decisions": YES, "expire": {"after": "1h", "decision": decision, **said}}


#: What the rule says, and what a person decides then; with None time or the policy itself does.
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
def test_dialects_2_each_ending_has_the_word_of_the_table_or_is_never_offered(
    interrupt: str, ending: str, word: str
) -> None:
    """Given an interrupt, and a rule that allows this ending only; when a person, the deadline or the policy
    ends it so; then its system is told the table's word. Where that is none, it was never offered."""
    system, *takes = interrupt.split()
    review = submitted(system, MAKERS[system](*takes), ENDINGS[ending][0])
    if word == "-":
        assert review is None
    else:
        assert review is not None
        assert short(to_review_out(ended(review, ending)).resume) == word


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
        # A rule that lets people say no is not cut down to a yes.
        ("langchain approve", {"allowed_decisions": ["approve", "reject"]}, "can't receive that"),
        ("langchain edit", {"allowed_decisions": ["edit", "reject"]}, "can't receive that"),
        ("langchain approve", {"allowed_decisions": ["approve", "ignore"]}, "can't receive that"),
        # Where nothing can be approved, nothing needs a no.
        ("langchain respond", {"allowed_decisions": ["respond", "reject"]}, "<respond> of respond"),
        # A rule that has no no itself, and an interrupt under no rule, ask for none.
        (
            "langchain approve reject",
            {"allowed_decisions": ["approve"]},
            "<approve> of approve reject",
        ),
        ("langchain approve", True, "<approve> of approve"),
        # A system without a word for skipping is told a rejection.
        (
            "langchain approve reject",
            {"allowed_decisions": ["approve", "ignore"]},
            "approve ignore",
        ),
        ("sagents approve reject", {"allowed_decisions": ["ignore"]}, "<ignore> of approve reject"),
        # Nothing that both sides allow has a word.
        ("sagents respond", {"allowed_decisions": ["respond"]}, "sagents can't receive respond"),
        # A text of the policy's own is no person's answer.
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
def test_dialects_2_a_rule_and_an_interrupt_leave_what_both_have_a_word_for(
    interrupt: str, rule: Any, offered: str
) -> None:
    """Given a rule and an interrupt; then people are offered the words, or the sentence refuses it."""
    system, *takes = interrupt.split()
    rules = {} if rule is True else {"*": rule}
    assert offered in outcome(system, MAKERS[system](*takes), rules)


def outcome(system: str, interrupt: Any, rules: Json) -> str:
    """What may be decided, as the whole of a text, or why nothing may."""
    try:
        [ruling] = judged(system, interrupt, rules).request.rulings
    except (DialectError, ApiProblem) as error:
        return str(error)
    return f"<{' '.join(ruling.allowed_decisions)}> of {' '.join(ruling.takes)}"


def test_a_call_that_nobody_is_asked_about_is_left_as_it_is() -> None:
    """Given a turn of three calls, the interrupt about the second only; then that alone gets words."""
    calls = [ToolCall("c0", "look", {}), ToolCall("c1", "ask", ARGS), ToolCall("c2", "look", {})]
    made = judged("langchain", batch("approve", "reject"), {}, calls).request
    assert [ruling.verdict.kind for ruling in made.rulings] == ["allow", "review", "allow"]
    assert [ruling.takes for ruling in made.rulings] == [(), ("approve", "reject"), ()]


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
    assert {*limit_decisions(dialects.get(system), made, asked).tools} == named


NO = ["reject", "respond"]
WHY = {"reject_reason": "required"}
ANY = "approve edit respond"


def answered(schema: Json, *allowed: str) -> Json:
    return {"allowed_decisions": allowed or ["approve", "reject"], "answer_schema": schema}


@dataclass(frozen=True)
class Picky(Batch):
    """LangChain, but for one kind of ending that it has no word for."""

    lacks: Callable[[FinalDecision], bool]

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        return dialects.get("langchain").load_decisions(wire, review)

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Any:
        return None if self.lacks(final) else super().dump_decision(review, action, final)


@pytest.mark.parametrize(
    ("rule", "lacks", "offered"),
    [
        # A decision is offered only where all that a person can say with it has a word.
        ({"allowed_decisions": NO}, lambda e: e.kind == "reject" and not e.message, "respond"),
        ({"allowed_decisions": NO}, lambda e: e.kind == "reject" and e.message, "respond"),
        ({"allowed_decisions": NO, **WHY}, lambda e: e.message is None, "reject respond"),
        (
            {"allowed_decisions": NO},
            lambda e: e.kind == "respond" and not e.message,
            "reject respond",
        ),
        ({"allowed_decisions": NO}, lambda e: e.kind == "respond" and e.message, "reject"),
        ({"allowed_decisions": YES}, lambda e: e.kind == "edit", "approve respond"),
        ({"allowed_decisions": YES}, lambda e: (e.name, e.args) == ("ask", ARGS), "refused"),
        # An answer that a rule asks for, of each type.
        (answered({"type": "boolean"}), lambda e: e.answer is True, "reject"),
        (answered({"enum": ["b", "c"]}), lambda e: e.answer == "b", "reject"),
        (answered({"type": "string"}), lambda e: e.answer == "text", "reject"),
        (answered({"type": "array", "items": {"enum": [3]}}), lambda e: e.answer == [3], "reject"),
        (answered({"type": "array"}), lambda e: e.answer == ["text"], "reject"),
        (answered({}), lambda e: e.kind == "approve" and e.answer is None, "approve reject"),
        (answered({"enum": [7]}, "respond"), lambda e: e.answer == 7, "refused"),
        # Skipping is told as a rejection, which has a text.
        ({"allowed_decisions": ["ignore"]}, lambda e: not e.model_text, "ignore"),
        # Only a person's answer is a person's.
        ({"allowed_decisions": YES}, lambda e: not e.by_person, "approve edit respond"),
        (expiring("respond", "x"), lambda e: not e.by_person, "refused"),
        (expiring("respond", "x"), lambda e: e.by_person, "refused"),
        (expiring("respond", "x"), lambda e: e.message == "x", "refused"),
        (expiring("reject", "Late"), lambda e: e.message == "Late", "refused"),
        (expiring("reject"), lambda e: e.kind == "reject" and e.message is None, ANY),
        (expiring("ignore"), lambda e: e.message is not None and not e.by_person, ANY),
        ("deny", lambda e: not e.by_person, "refused"),
        ("deny", lambda e: e.kind == "reject" and not e.message, "deny"),
    ],
)
def test_dialects_2_everything_that_may_come_of_an_action_is_tried(
    rule: Any, lacks: Callable[[FinalDecision], bool], offered: str
) -> None:
    """Given a system that takes all but one ending; then what could end so is not offered, or refused."""
    asked = langchain.dialect.load_request(batch("approve", "edit", "reject", "respond"), "t")
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": {"ask": rule}})
    made = asyncio.run(apply_policy(policy, asked))
    picky = Picky(langchain.dialect.config_format, langchain.dialect.key_names, lacks)
    assert offered_by(picky, made, asked) == offered


def offered_by(dialect: Dialect, made: JudgedCalls, asked: JudgedCalls) -> str:
    try:
        [ruling] = limit_decisions(dialect, made, asked).rulings
    except DialectError:
        return "refused"
    return " ".join(ruling.allowed_decisions) or ruling.verdict.kind


@pytest.mark.parametrize(
    ("interrupt", "no"),
    [
        ("langchain approve reject", "reject"),
        ("sagents reject", "reject"),
        ("arcgis booleanChoice", "reject"),
        ("agent_inbox accept ignore", "ignore"),
        ("question freeform cancel", "ignore"),
    ],
)
def test_a_denial_is_the_no_that_the_interrupt_itself_takes(interrupt: str, no: str) -> None:
    system, *takes = interrupt.split()
    review = submitted(system, MAKERS[system](*takes), "deny")
    assert review is not None
    assert review.actions[0].decision is not None
    assert review.actions[0].decision.type == no


def test_a_denial_is_a_rejection_where_the_interrupt_takes_more_than_one_no() -> None:
    asked = langchain.dialect.load_request(batch("reject"), "t")
    both = replace(asked.rulings[0], allowed_decisions=("ignore", "reject"))
    assert denial_type(langchain.dialect, asked._replace(rulings=[both]), "1") == "reject"


def test_what_an_interrupt_says_beside_is_said_again() -> None:
    """Given a kind of question that its schema alone would not tell; then it is asked again as that."""
    interrupt = arcgis("singleSelection")
    review = submitted("arcgis", interrupt, {"allowed_decisions": ["respond"]})
    assert review is not None
    assert dialects.get("arcgis").dump_request(review)["kind"] == "singleSelection"


def submitted(system: str, interrupt: Any, rule: Any) -> Review | None:
    """As at the door. None: it is refused."""
    try:
        return judged(system, interrupt, {"*": rule}).build(
            ReviewKey("a", "t", "m1", None), 1, START
        )[0]
    except (DialectError, ApiProblem):
        return None


def judged(system: str, interrupt: Any, rules: Json, calls: Sequence[ToolCall] = ()) -> JudgedTurn:
    name = "sagents" if system == "question" else system
    asked = dialects.get(name).load_request(interrupt, "t", calls)
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": rules})
    return JudgedTurn(*judge_interrupt(asyncio.run(apply_policy(policy, asked)), asked))


def ended(review: Review, ending: str) -> Review:
    [action] = review.actions
    does: Json | None = ENDINGS[ending][1]
    if does is None:
        return timers.apply_due(review, START + 7200).review if action.is_pending else review
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
