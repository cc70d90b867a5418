"""What expires soon is shown first, but other cards are not delayed without limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hitl_core.review.escalation import SHOW_BEFORE, show_by
from tests.support.builders import START, call, policy, review_of


def show_at(after: float, **rule: object) -> float:
    """When a card should be shown that was submitted so many seconds after START."""
    return show_by(review_of([call("it")], by=policy(it=rule), now=START + after)[0])


def test_a_deadline_and_an_escalation_pass_older_cards() -> None:
    """Given older cards without a deadline; then one that ends in ten minutes goes before those of the last
    fifty, one that escalates as well, and one that ends in two days before none."""
    assert show_at(0) == START
    soon = {"expire": {"after": "10m", "decision": "reject"}}
    step = {"escalate": [{"after": "10m", "to": "slack:#team-ops"}]}
    for rule in (soon, step):
        assert show_at(3000, **rule) == START + 3000 + 600 - SHOW_BEFORE == START
    assert show_at(0, **soon) < show_at(60, **soon)
    assert show_at(7, expire={"after": "2d", "decision": "reject"}) == START + 7


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_no_card_is_passed_by_one_of_an_hour_later(seconds: int, later: int) -> None:
    """Whatever the deadline: so nothing starves."""
    rule = {"expire": {"after": f"{seconds}s", "decision": "reject"}}
    assert show_at(SHOW_BEFORE + later, **rule) > START
