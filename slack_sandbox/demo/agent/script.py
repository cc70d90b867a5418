"""A script in place of a model: what the demo's agent does next.

It is a pure function of the conversation, so any process can continue where another one stopped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

HELP = (
    "I can: refund order 1042 · delete order 1043 · make customer C-1 vip · "
    "email jo@example.com Your parcel is on its way · run SQL SELECT * FROM orders"
)
LOOKED_UP = ("find_order", "success")


class WantedCall(NamedTuple):
    """A tool call without its id."""

    name: str
    args: dict[str, Any]


class Result(NamedTuple):
    """The result of a call: `status` is "success" or "error"."""

    name: str
    status: str
    text: str


def next_step(ask: str, results: Sequence[Result]) -> list[WantedCall] | str:
    """The next calls, or the final answer. `ask`: the user's last question. `results`: of all calls since
    then."""
    match results:
        case []:
            return _first_step(ask.strip())
        case [Result(name="find_order", status="success") as order]:
            return _refund_calls(ask, order.text)
        case _:
            return " ".join(_result_sentence(r) for r in results if (r.name, r.status) != LOOKED_UP)


def _first_step(ask: str) -> list[WantedCall] | str:
    """The first step. The first known phrase in the question chooses it."""
    if sql := re.search(r"\bsql\b:?\s+(.+)", ask, re.IGNORECASE | re.DOTALL):
        return [_call("run_sql", query=sql[1])]
    if mail := re.search(r"\be-?mail\s+(\S+@[\w.-]+\w)[\s:,]*(.*)", ask, re.IGNORECASE | re.DOTALL):
        body = mail[2].strip() or "Hello from the support desk."
        return [_call("send_email", to=mail[1], subject="A note about your order", body=body)]
    if customer := re.search(
        r"\bcustomer\s+(\S+)\s+(?:to\s+|as\s+)?(?:an?\s+)?(\w+)", ask, re.IGNORECASE
    ):
        return [_call("update_customer", customerId=customer[1], status=customer[2].lower())]
    order = re.search(r"\border\s*#?\s*(\d{1,9})\b", ask, re.IGNORECASE)
    if order and re.search(r"\b(delete|remove|drop)\b", ask, re.IGNORECASE):
        return [_call("run_sql", query=f"DELETE FROM orders WHERE id = {order[1]}")]
    if order:
        return [_call("find_order", order_id=int(order[1]))]
    return HELP


def _refund_calls(ask: str, order_line: str) -> list[WantedCall] | str:
    """The three calls of a refund, from the line that `find_order` gave."""
    line = re.search(r"order (\d+): (.+?), ([\d.]+) EUR, .*customer (\S+) (.+) <(.+)>", order_line)
    if not line or not re.search(r"\brefund", ask, re.IGNORECASE):
        return order_line
    order, item, total, _, name, address = line.groups()
    amount_match = re.search(r"(\d+(?:\.\d+)?)\s*(?:eur|€)", ask, re.IGNORECASE)
    amount = float(amount_match[1]) if amount_match else float(total)
    return [
        _call("refund_order", order_id=int(order), amount=amount, reason="asked by the customer"),
        _call(
            "send_email",
            to=address,
            subject=f"Your refund for order {order}",
            body=f"Hello {name},\n\nwe have paid back {amount:.2f} EUR for: {item}.",
        ),
        _call("run_sql", query=f"UPDATE orders SET status = 'refunded' WHERE id = {order}"),
    ]


def _result_sentence(result: Result) -> str:
    """One sentence about the result of a call. A rejected call is reported, but not tried again."""
    text = result.text.rpartition("Tool response:\n")[2]  # after the note on an edit
    changed = " (changed by the reviewer)" if text != result.text else ""
    if result.status == "success":
        return f"{result.name}{changed}: {text}."
    if "rejected" in text:
        reason = text.partition("with reason: ")[2]
        return f"{result.name} was rejected{': ' + reason if reason else ''}, so I left it."
    error = text.removeprefix(f"`{result.name}` failed: ").removeprefix("ShopError: ")
    return f"{result.name}{changed} failed: {error}."


def _call(name: str, **args: Any) -> WantedCall:
    return WantedCall(name, args)
