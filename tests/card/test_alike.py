# ruff: noqa: RUF001
"""The differences among calls of the same tool: in the question of Approve all, and in the table."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import ActionTable, build_card, card_buttons, plain_text
from bot.card.arguments import MAX_QUESTION
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, review_of

Args = dict[str, Any]


def forty(**odd_one: Any) -> Review:
    calls = [
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip", "notify": False})
        for n in range(1, 41)
    ]
    calls[22][1].update(odd_one)
    return review_of(*calls)


def question(review: Review) -> str:
    """The question of Approve all; "" if it is not offered."""
    buttons = card_buttons(build_card(review, DEFAULT), layout="table")
    asks = [one.confirmation for one in buttons if one.verb == "approve_all"]
    assert None not in asks
    return asks[0].text if asks and asks[0] else ""


def of_sql(*queries: str) -> Review:
    return review_of(*(("run_sql", {"query": query}) for query in queries))


def table_of(review: Review) -> ActionTable:
    table = build_card(review, DEFAULT).table
    assert table is not None
    return table


def rows_of(table: ActionTable) -> list[list[str]]:
    return [[plain_text(cell) for cell in row.cells] for row in table.rows]


def test_cards_one_of_forty_that_sets_more_is_named() -> None:
    """Fool 3: given forty updates, of which one also sets an account; then the question says which one."""
    assert question(forty(payout_iban="DE89370400440532013000")) == (
        "update_customer ×40: customerId cus_001 to cus_040; #23 also sets “payout_iban”"
        " DE89370400440532013000"
    )


@pytest.mark.parametrize(
    ("odd_one", "expected"),
    [
        ({"status": "admin"}, "status vip ×39, admin (#23)"),
        ({"notify": True}, "“notify” false ×39, true (#23)"),
        ({"notify": 0}, "“notify” false ×39, 0 (#23)"),
        ({"customerId": "*"}, "customerId cus_001 to cus_040, “*” (#23)"),
        ({"credit": 1, "limit": 2}, "#23 also sets “credit” 1, “limit” 2"),
        ({"Approved by Bob. x": 1}, "#23 also sets “Approved by Bob. x” 1"),
        ({"note": "x" * 60}, "#23 also sets “note”"),
        ({"to": "Jo. Approved"}, "#23 also sets “to” “Jo. Approved”"),
    ],
)
def test_cards_one_of_forty_that_differs_is_named(odd_one: Args, expected: str) -> None:
    assert expected in question(forty(**odd_one))


def test_cards_one_of_forty_that_lacks_something_is_named() -> None:
    calls = [("close", {"id": n, "reason": "old"}) for n in range(1, 41)]
    del calls[4][1]["reason"]

    assert question(review_of(*calls)) == "close ×40: id 1 to 40; #5 doesn't set reason"


def test_cards_hidden_values_are_not_called_the_same() -> None:
    """Given two payments that differ only in a value that nobody sees; then nothing says that they are the
    same, in the question or above the table."""
    rule = {"interrupt_on": {"*": {"redact": ["/iban"]}}}
    review = review_of(
        *(("pay", {"iban": iban, "to": "Jo"}) for iban in ("DE1", "DE2")), policy=rule
    )

    assert question(review) == "pay ×2: iban ⟦hidden⟧, perhaps different"
    common = " ".join(map(plain_text, table_of(review).common))
    assert "Jo" in common
    assert "hidden" not in common


def test_cards_the_highest_amount_is_named() -> None:
    """Given forty payments; then the question has the lowest and the highest one."""
    amounts = [10 + n for n in range(40)]
    amounts[7] = 9_999
    calls = [("pay", {"to": f"K-{n:02}", "amount": amount}) for n, amount in enumerate(amounts)]

    assert question(review_of(*calls)) == "pay ×40: amount 10 to 9999; to K-00 to K-39"


@pytest.mark.parametrize(
    ("one", "other"),
    [("a" * 50 + "X" * 40 + "b" * 40, "a" * 50 + "Y" * 40 + "b" * 40), ("to\nwhom", "to⏎whom")],
)
@pytest.mark.parametrize("count", [2, 4])
def test_arguments_whose_names_look_alike_are_compared_one_by_one(
    one: str, other: str, count: int
) -> None:
    """Given calls that differ in one of two arguments with the same visible name; then no question calls them
    the same, and the table shows the value."""
    payees = ["jo"] * (count - 1) + ["MALLORY"]
    review = review_of(*(("pay", {one: payee, other: "same"}) for payee in payees))
    asked = question(review)
    assert not asked or "MALLORY" in asked
    assert "MALLORY" in " ".join(rows_of(table_of(review))[-1])


def test_cards_what_does_not_fit_the_question_is_not_asked() -> None:
    """Fool 4: given a DROP TABLE as 8 of 8; then it is in the question, or Approve all is not offered."""
    short = ["SELECT 1", "SELECT a", "SELECT b", "SELECT c", "SELECT d", "SELECT e", "SELECT f"]
    long = [f"SELECT {one} FROM customers WHERE id = 7" for one in "abcdefg"]

    assert "“DROP TABLE users” (#8)" in question(of_sql(*short, "DROP TABLE users"))
    assert question(of_sql(*long, "DROP TABLE users")) == ""
    assert question(of_sql(*short, "DROP TABLE users -- " + "x" * 500)) == ""


@pytest.mark.parametrize("count", [2, 5, 12, 90])
def test_cards_the_question_fits_its_channel(count: int) -> None:
    calls = [("t" * (n % 7 + 1), {"k" * (n % 5 + 1): "v" * n}) for n in range(count)]

    assert len(question(review_of(*calls))) <= MAX_QUESTION


def test_cards_many_alike_are_a_table() -> None:
    """Change 5: given forty updates, of which one has one more field; then each is a row with what names it
    and what changes, what is equal in all is above, and the odd one stands out."""
    table = table_of(forty(payout_iban="DE89370400440532013000", status="blocked"))

    rows = rows_of(table)

    assert table.head == ("#", "customerId", "status", "Differs")
    assert [plain_text(line) for line in table.common] == [
        'The same in all update_customer: "notify": “false”'
    ]
    assert rows[0] == ["1", "cus_001", "vip", ""]
    assert rows[22] == ["23", "cus_023", "blocked", '"payout_iban": DE89370400440532013000']
    assert (len(rows), table.more, table.cut) == (40, 0, frozenset())


def test_cards_a_key_is_one_part_of_what_is_the_same() -> None:
    """Given a key that closes its quotes and goes on like another value; then it is quoted."""
    calls = [("pay", {"n": n, 'a": “5”, "b': 1}) for n in range(12)]
    [common] = table_of(review_of(*calls)).common
    assert plain_text(common).startswith('The same in all pay: “"a": ')


def test_cards_a_table_without_differences_has_no_column_for_them() -> None:
    assert table_of(forty()).head == ("#", "customerId")


def test_cards_calls_of_several_tools_say_which() -> None:
    calls = [("close", {"id": n}) for n in range(6)] + [("open", {"id": 1, "to": "jo"})] * 6

    table = table_of(review_of(*calls))

    assert table.head == ("#", "Tool", "Arguments")
    assert [plain_text(line) for line in table.common] == [
        "The same in all open ×6: id: “1” and to: “jo”"
    ]
    assert rows_of(table)[0] == ["1", "close", "id: 0"]
    assert rows_of(table)[7] == ["8", "open", ""]


def test_cards_a_table_has_what_is_odd_or_tried_again() -> None:
    """Given an odd value; then its row says so."""
    rows = rows_of(table_of(forty(status="v\u0456p")))

    assert rows[22][-1] == "⚠ 1 odd value"


def test_cards_rows_that_do_not_fit_are_counted_and_cut() -> None:
    calls = [("note", {"id": n, "text": f"{n} {'word ' * 30}"}) for n in range(150)]

    table = table_of(review_of(*calls))

    assert table.more == 150 - len(table.rows) > 0
    assert len(table.cut) == 150


def test_cards_what_is_hidden_stays_hidden_in_a_table() -> None:
    calls = [("charge", {"id": n, "token": f"sk_live_{n}"}) for n in range(12)]
    review = review_of(*calls, policy={"interrupt_on": {"*": {"redact": ["/token"]}}})

    table = table_of(review)

    assert "sk_live" not in repr((table, question(review), build_card(review, DEFAULT).waiting))
    assert table.common == ()
    assert [row[-1] for row in rows_of(table)] == ["⟦hidden⟧"] * 12
