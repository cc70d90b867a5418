"""Each possible ending of an interrupt is tried before anybody is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.dialects import langchain
from hitl_core.dialects.answerable_decisions import limit_decisions
from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.dialects.base import Dialect
from hitl_core.dialects.parts.batch import Batch
from hitl_core.dialects.parts.decisions import FinalDecision
from hitl_core.errors import DialectError
from hitl_core.gate.submission.calls import JudgedCalls
from hitl_core.model import Action, Review
from hitl_core.policy import Policy
from tests.dialects.test_offer import (
    ARGS,
    MAKERS,
    YES,
    Json,
    arcgis,
    batch,
    expiring,
    submit,
)

NO = ["reject", "respond"]


WHY = {"reject_reason": "required"}


ANY = "approve edit respond"


def answer_rule(schema: Json, *allowed: str) -> Json:
    return {"allowed_decisions": allowed or ["approve", "reject"], "answer_schema": schema}


@dataclass(frozen=True)
class Picky(Batch):
    """LangChain, but without one kind of ending."""

    lacks: Callable[[FinalDecision], bool]

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Any:
        return None if self.lacks(final) else super().dump_decision(review, action, final)


@pytest.mark.parametrize(
    ("rule", "lacks", "offered"),
    [
        # A decision is offered only if all its variants can be expressed.
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
        (answer_rule({"type": "boolean"}), lambda e: e.answer is True, "reject"),
        (answer_rule({"enum": ["b", "c"]}), lambda e: e.answer == "b", "reject"),
        (answer_rule({"type": "string"}), lambda e: e.answer == "text", "reject"),
        (
            answer_rule({"type": "array", "items": {"enum": [3]}}),
            lambda e: e.answer == [3],
            "reject",
        ),
        (answer_rule({"type": "array"}), lambda e: e.answer == ["text"], "reject"),
        (answer_rule({}), lambda e: e.kind == "approve" and e.answer is None, "approve reject"),
        (answer_rule({"enum": [7]}, "respond"), lambda e: e.answer == 7, "refused"),
        # A skip is sent as a rejection, which has a text.
        ({"allowed_decisions": ["ignore"]}, lambda e: not e.model_text, "ignore"),
        # Only a person's answer counts as one.
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
def test_every_possible_ending_is_tried(
    rule: Any, lacks: Callable[[FinalDecision], bool], offered: str
) -> None:
    """Given a system that takes all endings except one; then decisions that could end
    so are not offered, or refused."""
    asked = langchain.dialect.load_request(batch("approve", "edit", "reject", "respond"), "t")
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": {"ask": rule}})
    made = asyncio.run(apply_policy(policy, asked))
    picky = Picky(langchain.dialect.config_format, langchain.dialect.key_names, lacks)
    assert offer_of(picky, made, asked) == offered


def offer_of(dialect: Dialect, made: JudgedCalls, asked: JudgedCalls) -> str:
    try:
        [ruling] = limit_decisions(dialect, made, asked).calls.rulings
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
def test_a_denial_is_the_no_that_the_interrupt_accepts(interrupt: str, no: str) -> None:
    system, *takes = interrupt.split()
    review = submit(system, MAKERS[system](*takes), "deny")
    assert review is not None
    assert review.actions[0].decision is not None
    assert review.actions[0].decision.type == no


def test_a_denial_is_a_rejection_where_the_interrupt_takes_more_than_one_no() -> None:
    asked = langchain.dialect.load_request(batch("reject"), "t")
    both = asked.rulings[0]._replace(allowed_decisions=("ignore", "reject"))
    asked = asked._replace(rulings=[both])
    denied = asked._replace(
        rulings=[both._replace(verdict=both.verdict.model_copy(update={"kind": "deny"}))]
    )
    limited = limit_decisions(langchain.dialect, denied, asked)
    assert limited.denial_types == {"1": "reject"}


def test_the_metadata_of_an_interrupt_is_kept() -> None:
    """Given a kind of question that its schema doesn't show; then it is sent again as the same kind."""
    interrupt = arcgis("singleSelection")
    review = submit("arcgis", interrupt, {"allowed_decisions": ["respond"]})
    assert review is not None
    assert dialects.get("arcgis").dump_request(review)["kind"] == "singleSelection"
