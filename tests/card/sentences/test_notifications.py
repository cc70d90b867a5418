"""The notification of a card says who wants what, for whom and until when, with the most
important argument.
"""

from __future__ import annotations

from html import unescape
from typing import Any

from bot.card import (
    PlaceNames,
    build_card,
    call_about,
    card_text,
    list_hint,
    plain_text,
    refused_card_text,
)
from bot.channels.slack.render.card_message import message
from hitl_core.model import DEFAULT_PLACE, Review
from hitl_core.review import HELD_TEXT
from tests.channels.scenes import (
    THREE,
    asking,
    decide,
    expire_lease,
    name_of,
    review_of,
    start_calls,
)

REFUND = ("refund_order", {"amount": 120.0, "currency": "EUR", "customer": "Jo Martin"})
NO_ROUTE: dict[str, Any] = {"escalate": [], "interrupt_on": {}}


def summary(review: Review) -> str:
    return build_card(review, DEFAULT_PLACE).summary


def test_one_call_with_its_amount_its_requester_and_its_deadline() -> None:
    policy = {**NO_ROUTE, "expire": {"after": "4h", "decision": "reject"}}
    review = review_of(REFUND, policy=policy, requester="Maria Lopez", agent="billing-agent")

    assert summary(review) == (
        "billing-agent asks to run refund_order (amount: 120.0 · currency: EUR · customer: Jo Martin)."
        " For “Maria Lopez” (named by the agent)."
        " Approve, edit or reject it by 12:00 UTC on 15 Jan, else it is rejected."
    )
    assert message(build_card(review, DEFAULT_PLACE), name_of)["text"] == summary(review)


def test_a_timer_that_has_not_started_is_a_duration() -> None:
    """Given a card that is not posted yet; then the notification says how long people
    have."""
    expire = {"after": "4h", "decision": "ignore"}
    review = review_of(REFUND, policy={**NO_ROUTE, "clock": "delivered", "expire": expire})
    assert summary(review).endswith("reject it within 4 h, else it is skipped.")


def test_several_calls_have_a_fact_each() -> None:
    text = summary(review_of(*THREE, policy={"escalate": []}))
    assert "asks to run 3 tools: send_email (" in text
    for fact in ("to: jo@example.com", "UPDATE orders", "customerId: cus_88 · status: vip"):
        assert fact in text


def test_of_many_the_one_that_differs_has_a_fact() -> None:
    """Given seven updates and a statement; then the statement is in the notification."""
    calls = [("update_customer", {"customerId": f"c{n}", "status": "vip"}) for n in range(7)]
    review = review_of(*calls, ("run_sql", {"query": "DROP TABLE orders"}), policy=NO_ROUTE)
    assert summary(review).startswith(
        "support-agent asks to run 8 tools: update_customer ×7 and run_sql (query: DROP TABLE orders)."  # noqa: RUF001
    )


def test_an_id_is_not_read_aloud() -> None:
    assert "U0MARIA" not in summary(review_of(REFUND, requester="U0MARIA"))


def test_a_doubt_names_the_buttons_that_the_card_has() -> None:
    review = expire_lease(start_calls(review_of(REFUND, policy={"default": "allow"}), "1"))
    card = build_card(review, DEFAULT_PLACE)
    sent = message(card, name_of)
    labels = [
        element["text"]["text"]
        for block in sent["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    ]

    assert "amount: 120.0" in card.summary
    assert "may or may not have run" in card.summary
    assert "channel" not in card.summary
    assert [label for label in labels[:3] if f"“{label}”" not in card.summary] == []


def test_where_no_button_is_nobody_is_told_to_press_one() -> None:
    """Given cards of what waits and of a doubt, with a message that has no buttons: text
    in place of a refused card, and the card of a held review; then it has the facts, and no word of an
    answer."""
    waits = review_of(REFUND, policy=NO_ROUTE)
    doubt = expire_lease(start_calls(review_of(REFUND, policy={"default": "allow"}), "1"))
    for review, ask in ((waits, "Approve, edit or reject it"), (doubt, "Press “It ran”")):
        card, held = (build_card(review, DEFAULT_PLACE, held=held) for held in (False, True))
        assert ask in card.summary
        for text in (refused_card_text(card), held.summary, refused_card_text(held)):
            assert ("amount: 120.0" in text, ask in text) == (True, False)
        assert held.summary.endswith(HELD_TEXT)


def test_a_list_that_is_held_asks_nobody_to_decide() -> None:
    """Given a held review with more actions than are shown in full; then its card says neither that it waits
    until somebody decides, nor where to decide."""
    review = review_of(*[REFUND] * 11, policy=NO_ROUTE)
    for held in (False, True):
        card = build_card(review, DEFAULT_PLACE, held=held)
        lines = [list_hint(card), *card_text(card, PlaceNames(name_of)).origin]
        words = " ".join(map(plain_text, lines))
        assert "Review one by one" in words
        assert ("decide" in words) is not held


def test_what_is_hidden_is_not_in_it() -> None:
    """Given a call with a hidden value, waiting or in doubt; then no notification
    has it."""
    args = {"amount": 80, "token": "sk_live_51H8mXYZ"}
    policy = {**NO_ROUTE, "interrupt_on": {"charge": {"redact": ["/token"]}}}
    review = review_of(("charge", args), policy=policy)
    assert "amount: 80" in summary(review)
    assert "sk_live" not in summary(review)


def test_an_agents_words_are_quoted_in_it() -> None:
    review = asking({"type": "string"}, text="Approved by Bob. Which one?")
    assert "has a question (ask_human): “Approved by Bob. Which one?”" in summary(review)
    lie = review_of(("pay", {"to": "Jo). Approved by Bob. (x"}), requester="Maria. Approved by Bob")
    assert 'pay (“to: "Jo). Approved by Bob. (x"”)' in summary(lie)
    assert "For “Maria. Approved by Bob” (named by the agent)." in summary(lie)


def test_odd_values_are_counted_in_it() -> None:
    assert "⚠ 1 odd value." in summary(review_of(("pay", {"to": "jo@p\u0430ypal.com"})))


def test_money_is_with_its_currency() -> None:
    """Given `display: money`; then a notification, and the form that a button opens,
    write the amount with its currency; without the hint nobody guesses one."""
    money = {"display": {"/amount": {"money": {"currency": "/currency"}}}}
    review = review_of(REFUND, policy={**NO_ROUTE, "interrupt_on": {"refund_order": money}})
    assert "refund_order (amount: 120.00 EUR · customer: Jo Martin)" in summary(review)
    about = plain_text(call_about(review, review.actions[0])[0])
    assert about == "refund_order   amount: 120.00 EUR · customer: Jo Martin"
    doubt = expire_lease(start_calls(decide(review, "1", "approve"), "1"))
    assert "amount: 120.00 EUR" in summary(doubt)


def test_a_long_fact_is_cut_between_its_values() -> None:
    """Given a long e-mail; then the notification has the whole subject and the whole
    address, and says that there is more; of one long value it has the beginning."""
    assert "send_email (subject: Your refund for order 1042 · to: jo@example.com · …)." in summary(
        review_of(THREE[0], policy=NO_ROUTE)
    )
    long = summary(review_of(("run_sql", {"query": "SELECT " + "x, " * 100}), policy=NO_ROUTE))
    assert "run_sql (query: SELECT x, x," in long
    assert "…)" in long
    assert len(long) < 200


def test_no_character_sounds_different() -> None:
    """Given texts that a screen reader says as something else once a character is
    exchanged; then the message's text, unescaped, has each character as it is."""
    for words in (
        "120.0",
        "1,200.50",
        "jo@example.com",
        "https://a.example/b?c=1&d=2",
        "a < b",
        "#3",
    ):
        review = review_of(("pay", {"x": words}), policy=NO_ROUTE)
        sent = message(build_card(review, DEFAULT_PLACE), name_of)["text"]
        assert f"pay (x: {words})" in unescape(sent)
