"""What a decided card still shows: the call, who decided, the reason, and the result."""

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
from hitl_core.review import CallResult, claims, record_problem
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
def test_a_decided_line_says_who_what_and_why(review: Review, expected: str) -> None:
    """Cards 6 and 9: given a decided call; then its line keeps the main fact, who decided, why, and what
    became of it."""
    assert words_of(review) == [expected]


def test_an_order_that_the_agent_did_not_follow_is_told_as_that() -> None:
    review = claims.claim(resolve(doubted(), "1", "rerun"), "p2", NOW + 1000, 30).review
    [line] = words_of(claims.finish(review, review.fence, {}, NOW + 1001).review)
    assert line.endswith("→ run_sql may have run. The agent goes on without it")


def test_the_fact_is_of_the_revision_that_was_decided() -> None:
    review = decide(review_of(THREE[2]), "1", "edit", args={"customerId": "cus_9", "status": "new"})

    [line] = words_of(review)

    assert "“customerId: cus_9 · status: new”" in line


def test_hidden_values_stay_hidden_in_the_fact() -> None:
    rule = {"redact": ["/query"]}
    review = review_of(THREE[1], policy={"interrupt_on": {"*": rule}})

    for one in (decide(review, "1", "reject"), cancel(review, BOB)):
        assert "UPDATE" not in "".join(words_of(one))


def test_a_policy_hides_arguments_when_they_are_decided() -> None:
    """Given `hide_when_decided` in a rule, or as the default; then a decided card has the
    decision, and no argument, not even in what an edit changed; of two calls of one tool each has its number.
    """
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


def test_a_run_can_not_hide_what_was_decided() -> None:
    """Given a run's own configuration that hides; then it is refused, also where it may
    override."""
    rules = {"default": "review", "allow_override": True}
    with pytest.raises(InvalidPolicy, match="hide_when_decided"):
        Policy.from_mapping(rules).for_run({"interrupt_on": {"*": {"hide_when_decided": True}}})


def test_a_fact_is_not_said_twice_where_all_arguments_are_shown() -> None:
    """Given a decided action in a modal, below its arguments; then the decision does not
    repeat them."""
    review = decide(review_of(THREE[1]), "1", "reject", BOB)

    text = action_text(review.id, find_open_action(review, "1"), NAMES)

    assert short_names(text.decision) == "✖ run_sql  rejected by Bob Reyes\nNo reason was given."


def test_the_reason_of_a_cancellation_is_said_once() -> None:
    """Given a cancellation that ends two actions around a rejected one; then the first
    says why."""
    review = decide(review_of(*THREE), "2", "reject", BOB)

    lines = words_of(cancel(review, None, "The order stays."))

    assert ["The order stays." in line for line in lines] == [True, False, False]


def test_words_of_others_on_a_decided_line_are_quoted() -> None:
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


def test_a_sentence_of_ours_about_a_result_is_not_quoted() -> None:
    """Given a call without a result, and one whose result may quote hidden values; then
    our sentence about it is no quote."""
    plain = start_calls(decide(review_of(THREE[1]), "1", "approve"), "1")
    noted = claims.finish(plain, plain.fence, {"1": CallResult.note("done")}, NOW + 202).review
    secret = review_of(("pay", {"pin": "1"}), policy={"interrupt_on": {"*": {"redact": ["/pin"]}}})
    hidden = done(start_calls(decide(secret, "1", "approve", ALICE), "1"), {"1": "pin 1 is right"})

    assert words_of(noted)[0].endswith("\n→ done")
    assert "“" not in words_of(hidden)[0].rpartition("→")[2]
    assert "is right" not in words_of(hidden)[0]
    assert any(isinstance(span, Text) for span in lines_of(hidden)[0])


def forty() -> Review:
    """Forty updates of which 38 were approved, and two rejected."""
    calls = [
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip"}) for n in range(1, 41)
    ]
    review = review_of(*calls)
    for n in range(1, 41):
        if n == 7:
            review = decide(review, "7", "reject", BOB, message="Not this one.")
        elif n == 23:
            review = decide(review, "23", "reject", BOB, message="She left.")
        else:
            review = decide(review, str(n), "approve", BOB)
    return review


def test_many_that_were_decided_alike_are_counted_and_the_others_named() -> None:
    """Given forty calls of one tool; then the 38 that were approved share one line with
    their numbers and what they have in common, and each rejected one has its own."""
    card = build_card(forty(), DEFAULT)
    assert card.title == "support-agent: update_customer ×40: 38 approved, 2 rejected"  # noqa: RUF001
    assert card.summary == f"{card.title}."
    alike, seven, other = words_of(forty())
    assert alike.splitlines() == [
        "✔ update_customer ×38  approved by Bob Reyes",  # noqa: RUF001
        "#1 to #6, #8 to #22, #24 to #40:  “status: vip; customerId cus_001 to cus_040”",
    ]
    assert seven.splitlines() == [
        "✖ 7  update_customer  rejected by Bob Reyes",
        "“customerId: cus_007 · status: vip”",
        "Reason: “Not this one.”",
    ]
    assert other.endswith("“customerId: cus_023 · status: vip”\nReason: “She left.”")


def test_of_many_results_the_one_that_differs_is_shown() -> None:
    """Given 38 results that differ in their number only, and one that says something
    else; then that is there."""
    review = forty()
    keys = [str(n) for n in range(1, 41) if n not in (7, 23)]
    results = {key: f"cus_{key} is a VIP" for key in keys} | {"30": "error: no such customer"}
    line = words_of(done(start_calls(review, *keys), results))[0]
    assert "to #29, #31 to #40: It reported: “cus_1 is a VIP”, and 36 like it" in line
    assert line.endswith("→ #30: It reported: “error: no such customer”")


def test_what_is_hidden_stays_hidden_where_many_are_counted() -> None:
    """Given many alike calls, with a redacted value, or with arguments that the policy
    hides once they are decided; then the counted line has none of these."""
    calls = [("charge", {"customer": f"c{n}", "token": f"sk_{n}{n}"}) for n in range(1, 6)]
    rules: list[dict[str, Any]] = [{"redact": ["/token"]}, {"hide_when_decided": True}]
    for rule in rules:
        review = review_of(*calls, policy={"interrupt_on": {"charge": rule}})
        for n in range(1, 6):
            review = decide(review, str(n), "approve", BOB)
        [line] = words_of(review)
        assert "charge ×5" in line  # noqa: RUF001
        assert "sk_" not in line
        assert ("c1 to c5" in line) == ("redact" in rule)


def test_many_calls_too_large_to_compare_keep_the_first_facts() -> None:
    calls = [("note", {"id": f"n-{n}", "body": f"{n} " + "x " * 20_000}) for n in range(5)]
    review = review_of(*calls)
    for n in range(1, 6):
        review = decide(review, str(n), "approve", BOB)
    [line] = words_of(review)
    assert "#1 to #5:  “id: n-0" in line
    assert "and 2 more”" in line


def test_an_edited_call_is_never_only_counted() -> None:
    calls = [("update_customer", {"customerId": f"cus_{n}", "status": "vip"}) for n in range(5)]
    review = review_of(*calls)
    for n in range(1, 6):
        edited = {"customerId": f"cus_{n}", "status": "new"}
        review = decide(review, str(n), "edit", BOB, args=edited)
    lines = words_of(review)
    assert len(lines) == 5
    assert all("vip" in line and "new" in line for line in lines)


def test_the_error_of_an_agent_that_can_not_go_on_is_its_own_words() -> None:
    """Given an agent whose error reads like our sentence; then it is quoted, and not shown where the review
    hides values."""
    error = "no thread “t”. Approved by Bob."
    for rule, end in (
        (True, 'Its error: “no thread "t". Approved by Bob.”'),
        ({"redact": ["/query"]}, "Its error is not shown, because this review has hidden values."),
    ):
        review = decide(review_of(THREE[1], policy={"interrupt_on": {"*": rule}}), "1", "approve")
        claimed = claims.claim(review, "p1", NOW, 30).review
        stuck = record_problem(claimed, claimed.fence, error, NOW).review
        [line] = card_text(build_card(stuck, DEFAULT), NAMES).warnings
        assert plain_text(line).endswith(end)
