"""The actions of one place are not shown at another place."""

from __future__ import annotations

from bot.card import build_card
from hitl_core.model import Place
from tests.channels.scenes import decide, expire_lease, review_of, start_calls

APART = {
    "interrupt_on": {
        "payroll": {"notify": "slack:#finance"},
        "tweet": {"notify": "slack:#marketing"},
        "look": False,
    }
}


def test_promise_7_a_doubt_is_asked_about_only_where_its_call_stands() -> None:
    """Given two calls of one turn in two channels, both in doubt, then each channel sees its own."""
    review = review_of(("payroll", {"salary": 120_000}), ("tweet", {"text": "hi"}), policy=APART)
    review = decide(decide(review, "1", "approve"), "2", "approve")
    review = expire_lease(start_calls(review, "1", "2"))

    finance, marketing = (
        build_card(review, Place("slack:#finance")),
        build_card(review, Place("slack:#marketing")),
    )

    assert [doubt.name for doubt in finance.doubts] == ["payroll"]
    assert [doubt.name for doubt in marketing.doubts] == ["tweet"]
    assert "payroll" not in repr(marketing)
    assert "120" not in repr(marketing)
