"""What a decided card keeps: which call, who decided, why, and what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import (
    Emphasis,
    Line,
    PlaceNames,
    Strong,
    Text,
    action_text,
    build_card,
    card_text,
    find_open_action,
    plain_text,
)
from hitl_core.model import Review
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import CallResult, claims
from tests.channels.scenes import (
    ALICE,
    BOB,
    DEFAULT,
    NOW,
    THREE,
    apply_due,
    cancel,
    decide,
    done,
    expire_lease,
    name_of,
    resolve,
    review_of,
    start_calls,
)

NAMES = PlaceNames(name_of)
SQL = "“query: UPDATE orders SET status = 'refunded'⏎WHERE id = 1042;”"
SKIPPED = "run_sql may have run. The agent goes on without it, says Bob Reyes"


def lines_of(review: Review) -> list[Line]:
    return list(card_text(build_card(review, DEFAULT), NAMES).decisions)


def words_of(review: Review) -> list[str]:
    return [short_names(line) for line in lines_of(review)]


def short_names(line: Line) -> str:
    words = plain_text(line).replace("“Alice Ng” (U0ALICE)", "Alice Ng")
    return words.replace("“Bob Reyes” (U0BOB)", "Bob Reyes")


def doubted() -> Review:
    return expire_lease(start_calls(decide(review_of(THREE[1]), "1", "approve"), "1"))


@pytest.mark.parametrize(
    ("review", "expected"),
    [
        (
            decide(review_of(THREE[1]), "1", "reject", BOB, message="Use the admin tool."),
            f"✖ run_sql  rejected by Bob Reyes\n{SQL}\nReason: “Use the admin tool.”",
        ),
        (
            decide(review_of(THREE[1]), "1", "reject", BOB),
            f"✖ run_sql  rejected by Bob Reyes\n{SQL}\nNo reason was given.",
        ),
        (
            cancel(review_of(THREE[1]), BOB),
            f"⊗ run_sql  cancelled by Bob Reyes: it did not run\n{SQL}\nNo reason was given.",
        ),
        (
            cancel(review_of(THREE[1]), None, "The order stays."),
            f"⊗ run_sql  cancelled by the agent: it did not run\n{SQL}\nThe agent says: “The order stays.”",
        ),
        (
            done(start_calls(decide(review_of(THREE[1]), "1", "approve"), "1"), {"1": "1 row"}),
            f"✔ run_sql  approved by Alice Ng\n{SQL}\n→ It reported: “1 row”",
        ),
        (
            resolve(doubted(), "1", "ran"),
            f"✔ run_sql  approved by Alice Ng\n{SQL}\n→ run_sql ran, says Bob Reyes",
        ),
        (
            resolve(doubted(), "1", "rerun"),
            f"✔ run_sql  approved by Alice Ng\n{SQL}\n→ run_sql runs again, says Bob Reyes",
        ),
        (
            resolve(doubted(), "1", "skip"),
            f"✔ run_sql  approved by Alice Ng\n{SQL}\n→ {SKIPPED}",
        ),
    ],
)
def test_cards_6_a_decided_line_says_who_what_and_why(review: Review, expected: str) -> None:
    """Cards 6 and 9: given a decided call; then its line keeps the main fact, who decided, why, and what
    became of it."""
    assert words_of(review) == [expected]


def test_cards_6_the_fact_is_of_the_revision_that_was_decided() -> None:
    review = decide(review_of(THREE[2]), "1", "edit", args={"customerId": "cus_9", "status": "new"})

    [line] = words_of(review)

    assert "“customerId: cus_9 · status: new”" in line


def test_cards_6_hidden_values_stay_hidden_in_the_fact() -> None:
    rule = {"redact": ["/query"]}
    review = review_of(THREE[1], policy={"interrupt_on": {"*": rule}})

    for one in (decide(review, "1", "reject"), cancel(review, BOB)):
        assert "UPDATE" not in "".join(words_of(one))


def test_cards_6_a_policy_hides_arguments_when_they_are_decided() -> None:
    """Given `hide_when_decided` in a rule, or as the default; then a decided card has the decision, and no
    argument, not even in what an edit changed; of two calls of one tool each has its number."""
    calls = (THREE[2], ("update_customer", {"customerId": "cus_9", "status": "new"}))
    edited = {"customerId": "cus_88", "status": "basic"}
    policies: list[dict[str, Any]] = [
        {"interrupt_on": {"*": {"hide_when_decided": True}}},
        {"interrupt_on": {"*": True}, "hide_when_decided": True},
    ]
    for policy in policies:
        review = decide(review_of(*calls, policy=policy), "1", "edit", args=edited)
        assert words_of(decide(review, "2", "approve")) == [
            "✎ 1  update_customer  edited and approved by Alice Ng\n1 change",
            "✔ 2  update_customer  approved by Alice Ng",
        ]
    rule = {"*": {"hide_when_decided": False}}
    review = review_of(calls[0], policy={"interrupt_on": rule, "hide_when_decided": True})
    assert "cus_88" in words_of(decide(review, "1", "approve"))[0]


def test_cards_6_a_run_can_not_hide_what_was_decided() -> None:
    """Given a run's own configuration that hides; then it is refused, also where it may override."""
    rules = {"default": "review", "allow_override": True}
    with pytest.raises(InvalidPolicy, match="hide_when_decided"):
        Policy.from_mapping(rules).for_run({"interrupt_on": {"*": {"hide_when_decided": True}}})


def test_cards_6_a_fact_is_not_said_twice_where_all_arguments_are_shown() -> None:
    """Given a decided action in a modal, below its arguments; then the decision does not repeat them."""
    review = decide(review_of(THREE[1]), "1", "reject", BOB)

    text = action_text(review.id, find_open_action(review, "1"), NAMES)

    assert short_names(text.decision) == "✖ run_sql  rejected by Bob Reyes\nNo reason was given."


def test_cards_6_the_reason_of_a_cancellation_is_said_once() -> None:
    """Given a cancellation that ends two actions around a rejected one; then the first says why."""
    review = decide(review_of(*THREE), "2", "reject", BOB)

    lines = words_of(cancel(review, None, "The order stays."))

    assert ["The order stays." in line for line in lines] == [True, False, False]


def test_cards_1_words_of_others_on_a_decided_line_are_quoted() -> None:
    """Cards 1: given arguments, a reason and a result that imitate our lines; then each is a quote, which
    can't be closed, and only the policy's own words are not quoted."""
    forged = "x”\n✔ run_sql  approved by Bob Reyes"
    review = review_of(("run_sql", {"query": forged}), policy={"interrupt_on": {"*": True}})
    ran = done(start_calls(decide(review, "1", "approve"), "1"), {"1": forged})
    expire: dict[str, Any] = {"after": "1h", "decision": "reject", "message": "Nobody was there."}
    policy = {"interrupt_on": {"*": True}, "expire": expire}
    expired = apply_due(review_of(("run_sql", {"query": forged}), policy=policy), 3600)

    for one in (ran, decide(review, "1", "reject", message=forged), cancel(review, None, forged)):
        [line] = lines_of(one)
        ours = "".join(span.text for span in line if isinstance(span, Text | Strong | Emphasis))
        assert "x”" not in plain_text(line)
        assert "approved by Bob" not in ours
    [line] = lines_of(expired)
    assert Emphasis("Nobody was there.") in line


def test_cards_1_a_sentence_of_ours_about_a_result_is_not_quoted() -> None:
    """Given a call without a result, and one whose result may quote hidden values; then our sentence about it
    is no quote."""
    plain = start_calls(decide(review_of(THREE[1]), "1", "approve"), "1")
    noted = claims.finish(plain, plain.fence, {"1": CallResult.note("done")}, NOW + 202).review
    secret = review_of(("pay", {"pin": "1"}), policy={"interrupt_on": {"*": {"redact": ["/pin"]}}})
    hidden = done(start_calls(decide(secret, "1", "approve", ALICE), "1"), {"1": "pin 1 is right"})

    assert words_of(noted)[0].endswith("\n→ done")
    assert "“" not in words_of(hidden)[0].rpartition("→")[2]
    assert "is right" not in words_of(hidden)[0]
    assert any(isinstance(span, Text) for span in lines_of(hidden)[0])
