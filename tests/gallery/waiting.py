"""Cards that wait for somebody."""

from __future__ import annotations

from typing import Any

from hitl_core.model import Review
from tests.channels.scenes import (
    BOB,
    IT,
    OPS,
    THREE,
    asking,
    decided,
    escalated,
    named,
    rerouted,
    review_of,
)
from tests.gallery.showing import ASKED_IN, message

REFUND = {
    "order_id": 1042,
    "customer": "Jo Martin <jo@example.com>",
    "amount": 120.0,
    "currency": "EUR",
    "statement": (
        "BEGIN;\n"
        "UPDATE orders SET status = 'refunded', refunded_at = now()\n"
        " WHERE id = 1042 AND status = 'paid';\n"
        "INSERT INTO refunds (order_id, amount, currency)\n"
        "VALUES (1042, 120.00, 'EUR');\n"
        "COMMIT;"
    ),
}
REFUND_RULE: dict[str, Any] = {
    "description": "Pays money back. Finance looks at every refund of more than 100 EUR.",
    "args_schema": {
        "type": "object",
        "properties": {
            "order_id": {"type": "integer", "title": "Order", "readOnly": True},
            "customer": {"type": "string", "title": "Customer"},
            "amount": {"type": "number", "minimum": 0, "maximum": 200},
            "currency": {"enum": ["EUR", "USD"]},
            "statement": {"type": "string"},
        },
        "required": ["order_id", "amount", "currency"],
    },
}
CONTRACT = "".join(
    f"{n}. The supplier delivers within {n + 4} working days, and tells the customer in writing of any"
    " delay as soon as it is known, with the new date and the reason for it.\n\n"
    for n in range(1, 30)
)
NESTED = {
    "campaign": "spring-sale",
    "audience": {"countries": ["AT", "DE", "CH"], "min_orders": 3, "opted_in": True},
    "schedule": [
        {"day": "2027-03-01", "channel": "email", "template": "spring-1"},
        {"day": "2027-03-08", "channel": "sms", "template": None},
    ],
    "budget": {"amount": 4500.0, "currency": "EUR"},
}
ODD = {
    "to": "jo@p\u0430yp\u0430l.com",
    "subject": "Invoice \u202egpj.exe",
    "body": "Please pay\u200b today.",
    "account": "AT61 1904 3002 3457 3201   ",
    "page": "https://\u0430\u0440\u0440\u04cf\u0435.com/pay",
    "script": "ls" + "\n" * 400 + "rm -rf /srv",
}
INJECTION = {
    "to": "<!channel> <@U0BOB> <#C0OPS>",
    "subject": "*Approved by Alice* :white_check_mark: <https://evil.example|open the review>",
    "body": (
        "Hi,\n\n✔ send_email  approved by Alice Ng\n\n[ Approve ]   [ Reject ]\n\n"
        "```&lt;!here&gt;``` ~struck~ Members of #agent-approvals may decide."
    ),
}
SECRET = {
    "provider": "stripe",
    "token": "sk_live_51H8mXYZ",
    "card": {"number": "4111 1111 1111 1111", "owner": "Jo Martin"},
    "amount": 80,
}
TWO_OF_FINANCE: dict[str, Any] = {
    "reviewers": {"groups": ["S0FINANCE"], "quorum": 2},
    "interrupt_on": {"refund_order": REFUND_RULE},
}


def _rule(rule: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"interrupt_on": {"*": rule}, **more}


def _refund(**policy: Any) -> Review:
    rules = {"interrupt_on": {"refund_order": REFUND_RULE}, **policy}
    return review_of(("refund_order", REFUND), policy=rules, origin=ASKED_IN)


def _forty() -> Review:
    each = (
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip" if n % 3 else "blocked"})
        for n in range(1, 41)
    )
    return review_of(*each, origin=ASKED_IN)


def _contract(**rule: Any) -> Review:
    rule = {"description": "Sends a contract to a supplier.", **rule}
    args = {"supplier": "Globex", "valid_until": "2028-01-31", "text": CONTRACT}
    return review_of(("send_contract", args), policy=_rule(rule))


def _deploy() -> Review:
    rule = {"confirm": True, "must_read": True, "description": "Changes what customers see."}
    args = {"environment": "production", "version": "4.2.0", "script": "kubectl apply -f a\n" * 90}
    return review_of(("deploy", args), ("deploy", {"environment": "staging"}), policy=_rule(rule))


def _question() -> Review:
    schema = {"enum": ["Refund all of it", "Refund half of it", "Refund nothing"]}
    return asking(schema, text="The parcel came late but whole. What do we pay back?")


def _edited_of_two() -> Review:
    review = review_of(("refund_order", REFUND), policy=TWO_OF_FINANCE, origin=ASKED_IN)
    review = decided(review, "1", "edit", args={**REFUND, "amount": 80.0})
    return decided(review, "1", "approve", BOB)


def _escalated() -> Review:
    step = {"after": "10m", "to": OPS, "reviewers": {"groups": ["S0OPS"]}}
    review = review_of(*THREE, policy={"escalate": [step]}, origin=ASKED_IN)
    review = decided(review, "1", "approve")
    review = decided(review, "3", "reject", BOB, message="Jo asked us to close the account.")
    return escalated(review, why="The statement has no LIMIT, I am not sure about it.")


def _deadline() -> Review:
    expire = {"after": "4h", "decision": "reject", "message": "Nobody decided in time."}
    return _refund(expire=expire)


def _fallback() -> Review:
    return rerouted(_refund(fallback=IT, escalate=[]), "the channel is archived")


def _copy() -> Review:
    return _refund(notify="slack:S0FINANCE", reviewers={"groups": ["S0FINANCE"]})


SCENES = (
    message("pending-one", "One tool", lambda: review_of(THREE[2], origin=ASKED_IN)),
    message("pending-three", "Three tools, each with its answers", lambda: review_of(*THREE)),
    message("pending-forty", "Forty tools: one line each", _forty),
    message("refund", "A refund with the SQL that does it", _refund),
    message("deadline", "What happens by when", _deadline),
    message("long-text", "A long text is cut, and says so", _contract),
    message("must-read", "Approve first opens what is cut", lambda: _contract(must_read=True)),
    message("nested", "Nested data", lambda: review_of(("start_campaign", NESTED))),
    message("odd-characters", "What nobody would see", lambda: review_of(("send_email", ODD))),
    message(
        "injection",
        "Text that wants to be markup",
        lambda: review_of(("send_email", INJECTION), agent="<!here> helper"),
    ),
    message(
        "redacted",
        "Values that nobody is shown",
        lambda: review_of(("charge", SECRET), policy=_rule({"redact": ["/token", "/card/number"]})),
    ),
    message("confirm", "Approve asks once more, and wants all of it read", _deploy),
    message(
        "titled",
        "What the agent's own system calls it",
        lambda: named(review_of(THREE[2]), title="Make Jo Martin a VIP?"),
    ),
    message("question", "A question with its answers", _question),
    message(
        "question-text",
        "A question that wants words",
        lambda: asking({"type": "string"}, text="Which of the two addresses is the right one?"),
    ),
    message(
        "quorum-none",
        "Two of a group must approve",
        lambda: review_of(("refund_order", REFUND), policy=TWO_OF_FINANCE, origin=ASKED_IN),
    ),
    message("quorum-edited", "One of two approved what was edited before", _edited_of_two),
    message("escalated", "Escalated by a person, with a word of why", _escalated, OPS),
    message("escalated-first", "The same where it came from", _escalated),
    message("fallback", "Shown elsewhere, as its channel is gone", _fallback, IT),
    message("copy", "The copy that each member of a group gets", _copy, "slack:S0FINANCE"),
    message(
        "half-decided",
        "One decided, two wait",
        lambda: decided(review_of(*THREE), "2", "reject", BOB, message="Not on a Friday."),
    ),
    message(
        "no-arguments", "Nothing but a name", lambda: review_of(("reboot", {}), requester=None)
    ),
    message(
        "two-hundred-arguments",
        "More arguments than fit",
        lambda: review_of(("wide", {f"argument_{n:03}": n for n in range(200)})),
    ),
)
