"""An agent's question in a review that hides values: people see numbers in place of its words."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import pytest

from bot.card import build_card, find_open_action, thread_lines
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.forms.answer_form import AnswerForm
from bot.forms.page import Entries, FormRef
from bot.inbox.press import ActionRef
from hitl_core import dialects
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.dialects import apply_policy
from hitl_core.errors import Refused
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, Snapshot
from hitl_core.policy import Policy
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

CANARY = "zqx"
HIDES: dict[str, Any] = {"redact": ["/context", "/options"]}


async def ask(kind: str, *, quorum: int = 1, **rule: Any) -> Review:
    wire = {
        "type": "ask_user_question",
        "question": "Which one?",
        "response_type": kind,
        "options": [
            {"label": f"use {CANARY}", "value": f"{CANARY}a"},
            {"label": "no", "value": "b"},
        ],
        "context": f"{CANARY} context",
        "tool_call_id": "c1",
    }
    reviewers = {"channel_members": True, "quorum": quorum}
    rules = {
        "ask_user": {
            "allowed_decisions": ["respond", "ignore", "reject"],
            "reviewers": reviewers,
            **rule,
        }
    }
    policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
    judged = await apply_policy(policy, dialects.get("sagents").load_request(wire, "t", []))
    return build_review(ReviewKey("a", "t", "x", None), judged, 1, START)[0]


def read(review: Review) -> str:
    snapshot, out = Snapshot(review=review, posts={}, shown={}, now=START), io.StringIO()
    with contextlib.redirect_stdout(out):
        for call in review.calls:
            say_call(snapshot, call, rest=None)
    cards = [[build_card(review, each), thread_lines(review, each)] for each in review.places]
    text = json.dumps(review_to_json(snapshot, with_args=True))
    return f"{out.getvalue()} {text} {cards} {find_open_action(review, '1')}"


def answer_form(review: Review) -> AnswerForm:
    ref = FormRef("respond", ActionRef(review.id, "1", 1, review.seal("1", is_whole=True)))
    return AnswerForm(review, review.actions[0], ref, MODAL_LIMITS)


@pytest.mark.parametrize("quorum", [1, 2])
@pytest.mark.parametrize("kind", ["single_select", "multi_select"])
async def test_options_of_an_agent_are_numbers_where_values_are_hidden(
    kind: str, quorum: int
) -> None:
    """Given a question whose options may quote what the policy hides, then no button, form, error or line
    has their words; people choose by number, and the agent gets the value."""
    review = await ask(kind, quorum=quorum, **HIDES)
    assert CANARY not in read(review)
    assert find_open_action(review, "1").choices == ()
    form = answer_form(review)
    page = form.page()
    assert "Option 2" in repr(page)
    assert CANARY not in repr(page)
    [field] = page.fields
    proposal = form.enter(Entries({field.id: "0"})).proposal()
    value = f"{CANARY}a" if kind == "single_select" else [f"{CANARY}a"]
    assert proposal.answer == value
    decided = decisions.decide(review, "1", proposal, person("Ada"), START).review
    assert CANARY not in read(decided)
    if quorum == 1:
        assert decided.actions[0].decision is not None
        assert decided.actions[0].decision.answer == value
    else:
        assert CANARY not in repr(answer_form(decided).page())


async def test_a_refused_answer_quotes_no_option() -> None:
    review = await ask("single_select", **HIDES)
    with pytest.raises(Refused) as refused:
        decisions.decide(review, "1", Proposal("respond", 1, answer="c"), person("Ada"), START)
    assert CANARY not in str(refused.value)


async def test_without_hidden_values_the_options_are_buttons() -> None:
    """Given a review that hides nothing, then people read the options, as before."""
    review = await ask("single_select")
    assert f"use {CANARY}" in [each.label for each in find_open_action(review, "1").choices]
    assert f"use {CANARY}" in repr(answer_form(review).page())
