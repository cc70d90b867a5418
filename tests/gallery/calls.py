"""The tools of a support agent, and the rules for them in its policy."""

from __future__ import annotations

from typing import Any

from hitl_core.model import Review
from tests.channels.scenes import EMAIL, THREE, review_of

#: Where the agent was asked.
ASKED_IN = "slack:C0ASK/1799999990.000100"

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
    "display": {"/amount": {"money": {"currency": "/currency"}}, "/statement": {"code": "sql"}},
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
RULES: dict[str, Any] = {
    "send_email": {
        "description": "Sends an e-mail to the customer.",
        "display": {"/body": "email"},
        "args_schema": {
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "subject": {"type": "string"},
                "body": {"type": "string"},
            },
            "required": ["to", "subject", "body"],
        },
    },
    "run_sql": {
        "allowed_decisions": ["approve", "reject"],
        "description": "Changes the production database.",
        "display": {"/query": {"code": "sql"}},
    },
    "update_customer": {
        "allowed_decisions": ["approve", "edit", "reject", "respond", "ignore"],
        "description": "Writes to the customer record.",
    },
    "refund_order": REFUND_RULE,
}
WITH_OPS: dict[str, Any] = {"escalate": [{"after": "10m", "to": "slack:#team-ops"}]}
BY_TWO: dict[str, Any] = {"reviewers": {"groups": ["S0FINANCE"], "quorum": 2}}
REFUNDING = ("refund_order", REFUND)
MAILING = ("send_email", EMAIL)
QUERYING, UPDATING = THREE[1:]
REFUNDED_LESS: dict[str, Any] = {
    **REFUND,
    "amount": 80.0,
    "statement": str(REFUND["statement"]).replace("120.00", "80.00"),
}


def ask(*calls: tuple[str, dict[str, Any]], reason: str | None = None, **policy: Any) -> Review:
    """For Maria, in a conversation; `policy` has keys beside the rules, or rules of its own."""
    rules = {"interrupt_on": RULES, **policy}
    return review_of(*calls, policy=rules, origin=ASKED_IN, reason=reason)
