"""What a card says about an edit that falls under another rule: only what holds."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import build_card
from bot.channels.slack.render.card_message import message
from hitl_core.model import encode
from hitl_core.review import Proposal, decisions
from slack_sandbox.client import read_text
from tests.channels.scenes import ALICE, DEFAULT, NOW, name_of, review_of

Json = dict[str, Any]
UNDER = "The edit falls under the rule `refun*`"
OTHERS = "so other people must decide"


def words_after_edit(rule: Json, *, others: bool = False) -> str:
    """The texts of the card after Alice changed 0 to 1, which falls under this rule."""
    first = {"when": {"properties": {"n": {"const": 0}}, "required": ["n"]}}
    both = {"reviewers": {"users": ["U0ALICE", "U0BOB"]}, "must_read": False}
    rules = {"refund": {**both, **first}, "refun*": {**both, **rule}}
    review = review_of(("refund", {"n": 0}), policy={"interrupt_on": rules, "escalate": []})
    edit = Proposal("edit", 1, args=encode({"n": 1}))
    after = decisions.decide(review, "1", edit, ALICE, NOW, has_new_grant=not others).review
    return " ".join(read_text(message(build_card(after, DEFAULT), name_of)["blocks"]).split())


@pytest.mark.parametrize(
    "rule", [{"expire": {"after": "30m"}}, {"confirm": True}, {"must_read": True}]
)
def test_a_stricter_rule_of_the_same_people_asks_no_others(rule: Json) -> None:
    """The card of an edit that its editor had approved said that other people must decide."""
    text = words_after_edit(rule)
    assert f"{UNDER}." in text
    assert OTHERS not in text


def test_a_rule_of_other_people_says_so() -> None:
    text = words_after_edit({"reviewers": {"users": ["U0CARL"]}}, others=True)
    assert f"{UNDER}, {OTHERS}." in text


def test_who_may_not_approve_their_own_edit_is_named_also_where_one_person_is_enough() -> None:
    people = {"users": ["U0ALICE", "U0BOB"], "editor_approves": False}
    text = words_after_edit({"reviewers": people})
    assert "Needs 1 approval by <@U0BOB>, not by <@U0ALICE>, who made the edit." in text
