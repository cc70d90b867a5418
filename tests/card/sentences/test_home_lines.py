"""What a Home says about a review that waits for other people, or that a person has decided."""

from __future__ import annotations

from typing import Any

from bot.card import HomeText, PlaceNames, build_card, decided_text, others_text, plain_text
from hitl_core.model import DEFAULT_PLACE, Review
from tests.channels.scenes import BOB, DEFAULT, NOW, THREE, asking, decide, name_of, review_of

NAMES = PlaceNames(name_of)
PAYING = ("pay", {"to": "jo@example.com", "amount": 120, "token": "sk_live_51H8mXYZ"})


def waiting(review: Review, *keys: str) -> str:
    card = build_card(review, DEFAULT)
    return _text(others_text(card, frozenset(keys), NAMES, at=NOW, ref=None))


def decided(review: Review, *keys: str) -> str:
    card = build_card(review, DEFAULT)
    return _text(decided_text(card, frozenset(keys), NAMES, at=NOW, ref=None))


def _text(text: HomeText) -> str:
    lines = [*map(plain_text, text.lines), "  ·  ".join(map(plain_text, text.details))]
    return "\n".join(lines).replace(" (U0BOB)", "").replace("“Bob Reyes”", "Bob")


def paying(**policy: Any) -> Review:
    rule = {"interrupt_on": {"pay": {"redact": ["/token"]}}, "escalate": [], **policy}
    return review_of(PAYING, policy=rule, requester="Maria Lopez", agent="billing-agent")


def test_cards_home_what_waits_for_others_says_what_since_when_and_until_when() -> None:
    """Given a call with a deadline and a hidden value; then its line has the tool, the fact without that
    value, and both times."""
    lines = waiting(paying(expire={"after": "4h", "decision": "reject"}), "1").splitlines()

    assert lines == [
        "billing-agent asks to run pay",
        "“amount: 120 · to: jo@example.com · token: ⟦hidden⟧”",
        "asked 2027-01-15 08:00 UTC  ·  rejected unless decided in time (2027-01-15 12:00 UTC)",
    ]


def test_cards_home_it_says_how_many_have_approved() -> None:
    two = {"users": ["U0ALICE", "U0BOB"], "quorum": 2, "exclude_requester": False}
    review = paying(reviewers=two)
    assert "”  1 of 2 approvals\n" in waiting(decide(review, "1", "approve", BOB), "1")


def test_cards_home_what_was_decided_says_what_by_whom_and_when() -> None:
    """Given an approved and a rejected call; then each has its fact, without the hidden value."""
    review = review_of(
        PAYING,
        THREE[1],
        policy={"interrupt_on": {"pay": {"redact": ["/token"]}, "run_sql": True}},
        requester="Maria Lopez",
    )
    review = decide(decide(review, "1", "approve", BOB), "2", "reject", BOB)

    assert decided(review, "1", "2").splitlines() == [
        "support-agent  for “Maria Lopez” (named by the agent)",
        "✔ pay  approved by Bob  “amount: 120 · to: jo@example.com · token: ⟦hidden⟧”",
        "✖ run_sql  rejected by Bob  “query: UPDATE orders SET status = 'refunded'⏎WHERE id = 1042;”",
        "you decided 2027-01-15 08:00 UTC",
    ]


def test_cards_home_a_policy_that_hides_what_was_decided_hides_it_here() -> None:
    rules = {"interrupt_on": {"*": {"hide_when_decided": True}}}
    shown = decided(decide(review_of(PAYING, policy=rules), "1", "approve", BOB), "1")
    assert "✔ pay  approved by Bob\n" in shown
    assert "120" not in shown


def test_cards_home_shows_only_the_calls_that_this_person_may_see() -> None:
    """Given two calls of which a person may see one, or none; then the other one's arguments and the agent's
    question are not shown."""
    one = review_of(PAYING, THREE[1], policy={"interrupt_on": {}})
    assert "UPDATE" not in waiting(one, "1")
    assert "jo@example.com" not in waiting(one)
    both = decide(decide(one, "1", "approve", BOB), "2", "approve", BOB)
    assert "UPDATE" not in decided(both, "1")
    question = asking({"type": "string"}, text="Is hunter2 her password?")
    assert "hunter2" in waiting(question, "1")
    assert "hunter2" not in waiting(question) + decided(question)


def test_cards_home_of_many_the_first_three_and_how_many_more() -> None:
    calls = [("update_customer", {"customerId": f"cus_{n}"}) for n in range(5)]
    review = review_of(*calls)
    keys = [action.key for action in review.actions]
    assert "cus_2\nand 2 more\nasked" in waiting(review, *keys)
    for key in keys:
        review = decide(review, key, "approve", BOB)
    shown = decided(review, *keys)
    assert "cus_2”\nand 2 more\nyou decided" in shown
    assert build_card(review, DEFAULT_PLACE).agent in shown
