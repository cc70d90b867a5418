"""A policy in Python, for rules that calculate and descriptions that quote the arguments.

    python -m examples.python_policy     # prints its verdict on a few calls

The other examples use it. A callable is a fast function of the call's arguments. An error never lets a call
through: a `when` that raises counts as a match, and a `description` that raises is left out.
"""

from __future__ import annotations

import argparse
from typing import Any

from hitl_core import Policy, ToolCall

Args = dict[str, Any]


def is_large(args: Args) -> bool:
    """If False, this rule does not apply, and the next one is tried."""
    return not 0 < args["amount"] <= 50


def describe_refund(args: Args) -> str:
    return f"Pay back {args['amount']:.2f} EUR for order {args['order_id']}?"


POLICY = Policy.from_mapping(
    {
        "default": "deny",  # unknown tools never run
        "interrupt_on": {
            "find_*": False,  # allowed without a review
            "refund": {
                "when": is_large,
                "description": describe_refund,
                "display": {"/amount": {"money": {"currency": "EUR"}}},  # how the card shows it
            },
            "refund*": False,  # small refunds
            "send_email": {
                "allowed_decisions": ["approve", "edit", "reject"],
                "display": {"/body": "email"},
            },
        },
    }
)

CALLS = [
    ToolCall("c1", "find_order", {"order_id": 1042}),
    ToolCall("c2", "refund", {"order_id": 1042, "amount": 19.5}),
    ToolCall("c3", "refund", {"order_id": 1042, "amount": 80}),
    ToolCall("c4", "refund", {"order_id": 1042}),
    ToolCall("c5", "drop_table", {"name": "orders"}),
]


def main() -> None:
    argparse.ArgumentParser(description="Print the policy's verdict on a few calls.").parse_args()
    for call in CALLS:
        verdict = POLICY.judge(call).verdict
        print(f"{verdict.kind:7} {call.name} {call.args}: {verdict.reason}")


if __name__ == "__main__":
    main()
