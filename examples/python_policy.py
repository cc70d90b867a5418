"""A policy in Python, where YAML is not enough: rules that count, and descriptions in a person's words.

    python -m examples.python_policy     # what it says of a few calls

The other examples use it. A callable is a plain, quick function of the call's arguments. One that fails never
opens the gate: a `when` that raises counts as met, and a `description` that raises is left out.
"""

from __future__ import annotations

import argparse
from typing import Any

from hitl_core import Policy, ToolCall

Args = dict[str, Any]


def is_large(args: Args) -> bool:
    """Not met: this rule does not match, and the search goes on."""
    return not 0 < args["amount"] <= 50


def refund_in_words(args: Args) -> str:
    return f"Pay back {args['amount']:.2f} EUR for order {args['order_id']}?"


POLICY = Policy.from_mapping(
    {
        "default": "deny",  # tools that nobody thought of never run
        "interrupt_on": {
            "find_*": False,  # allowed without asking
            "refund": {"when": is_large, "description": refund_in_words},
            "refund*": False,  # the small ones
            "send_email": {"allowed_decisions": ["approve", "edit", "reject"]},
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
    argparse.ArgumentParser(description="What a policy says of a few calls.").parse_args()
    for call in CALLS:
        verdict = POLICY.judge(call).verdict
        print(f"{verdict.kind:7} {call.name} {call.args}: {verdict.reason}")


if __name__ == "__main__":
    main()
