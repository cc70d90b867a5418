"""Attacks on people who approve without reading, and how the cards prevent them."""

from __future__ import annotations

from typing import Any

from hitl_core.model import Review
from tests.channels.scenes import review_of
from tests.gallery.calls import ask
from tests.gallery.showing import message, question

ROUTINE = (
    "The supplier delivers within five working days, and tells the customer of any delay.\n\n" * 12
)
HIDDEN_CLAUSE = f"{ROUTINE}The customer waives every refund and pays 90,000 EUR.\n\n{ROUTINE}"
FILLED: dict[str, Any] = {f"a_note_{n:02}": "routine" for n in range(1, 21)}
PEOPLE = [
    {"to": f"person{n:02}@example.com", "greeting": "Dear customer, thank you." * 3}
    for n in range(30)
]
PEOPLE[14]["to"] = "evil@example.org"
#: Keys that look like lines of the card.
KEYS: dict[str, Any] = {
    "amount": 4800.0,
    "currency": "EUR",
    "Approved by": "Bob Reyes, Finance",
    "Approvals: 2 of 2": "complete",
    "amount  80.00 EUR  (limit": "100 EUR)",
}
#: Signs and digits that look like others.
SIGNS = {
    "to": "jo\uff20example.com",
    "page": "https://shop.example\u2215pay",
    "amount": "10\u2024000",
    "account": "\uff11\uff12\uff10",
    "date": "1\u06622",
}
QUERIES = [f"UPDATE orders SET checked = now() WHERE id = {n}" for n in range(1041, 1048)]


def _one_of_forty() -> Review:
    calls = [
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip", "notify": False})
        for n in range(1, 41)
    ]
    calls[22][1]["payout_iban"] = "DE89370400440532013000"
    return ask(*calls)


def _odd_four() -> Review:
    return ask(
        *(("send_email", {"to": f"p{n}@p\u0430yp\u0430l.com", "body": "Hi"}) for n in range(4))
    )


def _dropping() -> Review:
    return ask(*(("run_sql", {"query": query}) for query in [*QUERIES, "DROP TABLE users"]))


def _eight(**odd_one: Any) -> Review:
    calls = [
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip"}) for n in range(1, 9)
    ]
    calls[5][1].update(odd_one)
    return ask(*calls)


SCENES = (
    message(
        "attack-keys",
        "Keys that look like lines of ours: apart from the schema's, and quoted",
        lambda: ask(("refund_order", KEYS)),
    ),
    message(
        "attack-keys-without-schema",
        "The same for a tool without a schema",
        lambda: review_of(("pay", KEYS)),
    ),
    message("attack-signs", "Signs and digits that look like others", lambda: ask(("pay", SIGNS))),
    message("attack-one-of-forty", "One of forty sets an account too", _one_of_forty),
    message("attack-odd-four", "Four with look-alikes: no Approve all", _odd_four),
    question(
        "attack-one-of-eight-asks",
        "Approve all asks: one of eight sets an account too",
        lambda: _eight(payout_iban="DE89370400440532013000"),
        "approve_all",
    ),
    question(
        "attack-drop-table-asks",
        "Approve all asks: DROP TABLE is one of eight",
        _dropping,
        "approve_all",
    ),
    message(
        "attack-drop-table", "DROP TABLE as 8 of 8 is in the question of Approve all", _dropping
    ),
    message(
        "attack-middle-of-text",
        "A clause in the middle of a long text: to be read first",
        lambda: ask(("send_contract", {"supplier": "Globex", "text": HIDDEN_CLAUSE})),
    ),
    message(
        "attack-bcc",
        "A bcc behind 20 filler keys: named, and to be read first",
        lambda: ask(("post_letter", {**FILLED, "bcc": "evil@example.org"})),
    ),
    message(
        "attack-recipient",
        "Recipient 15 of 30: to be read first",
        lambda: ask(("send_letters", {"recipients": PEOPLE})),
    ),
)
