"""The shop's tools. They change a real SQLite file and write real e-mail files.

Each tool returns one short line. Raises ShopError if it can't do what it was asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from secrets import token_hex

from .database import open_database, seed

SENDER = "support@example.com"


class ShopError(Exception):
    """The tool can't do it: an unknown order, bad SQL. The text is for the model."""


class Shop:
    """`support.db` and the e-mails in `outbox/` are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._database = folder / "support.db"
        self._outbox = folder / "outbox"
        self._outbox.mkdir(parents=True, exist_ok=True)
        seed(self._database)

    @property
    def tools(self) -> dict[str, Callable[..., str]]:
        """The tools by their names."""
        functions: list[Callable[..., str]] = [
            self.find_order,
            self.refund_order,
            self.update_customer,
            self.run_sql,
            self.send_email,
        ]
        return {function.__name__: function for function in functions}

    def find_order(self, order_id: int) -> str:
        """Look up an order and its customer. Changes nothing."""
        with open_database(self._database) as db:
            row = _order(db, order_id)
        return (
            f"order {order_id}: {row['item']}, {_euros(row['total_cents'])}, {row['status']},"
            f" refunded {_euros(row['refunded_cents'])}, customer {row['customer_id']}"
            f" {row['name']} <{row['email']}>"
        )

    def refund_order(self, order_id: int, amount: float, reason: str) -> str:
        """Pay back `amount` EUR of an order, at most what is not paid back yet."""
        cents = round(amount * 100)
        with open_database(self._database) as db:
            # Nobody may change the row between the check and the write.
            db.execute("BEGIN IMMEDIATE")
            row = _order(db, order_id)
            left = row["total_cents"] - row["refunded_cents"]
            if not 0 < cents <= left:
                raise ShopError(
                    f"can't refund {_euros(cents)} of order {order_id}: {_euros(left)} are left"
                )
            db.execute(
                "UPDATE orders SET refunded_cents = refunded_cents + ?, refund_reason = ?"
                " WHERE id = ?",
                (cents, reason, order_id),
            )
        return f"refunded {_euros(cents)} of order {order_id}"

    def update_customer(self, customerId: str, status: str, note: str | None = None) -> str:
        """Set a customer's status, for example active, vip or blocked, and perhaps a note."""
        with open_database(self._database) as db:
            changed = db.execute(
                "UPDATE customers SET status = ?, note = coalesce(?, note) WHERE id = ?",
                (status, note, customerId),
            ).rowcount
        if not changed:
            raise ShopError(f"no customer {customerId}")
        return f"customer {customerId} is now {status}"

    def run_sql(self, query: str) -> str:
        """Run one SQL statement on the tables customers and orders."""
        try:
            with open_database(self._database) as db:
                cursor = db.execute(query)
                rows = [tuple(row) for row in cursor.fetchmany(5)]
                changed = cursor.rowcount
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ShopError(f"SQL error: {error}") from error
        if cursor.description:
            return f"first rows: {rows}" if rows else "no rows"
        return f"{max(changed, 0)} row{'' if changed == 1 else 's'} changed"

    def send_email(self, to: str, subject: str, body: str) -> str:
        """Send an e-mail to one address."""
        message = EmailMessage()
        try:
            message["From"], message["To"], message["Subject"] = SENDER, to, subject
        except ValueError as error:  # a line break in a header would start another header
            raise ShopError(f"can't send: {error}") from error
        message["Date"] = formatdate()
        message.set_content(body)
        path = self._outbox / f"{token_hex(4)}.eml"
        with path.open("xb") as file:
            file.write(bytes(message))
        return f"sent, message {path.name}"


def _order(db: sqlite3.Connection, order_id: int) -> sqlite3.Row:
    row = db.execute(
        "SELECT orders.*, customers.name, customers.email FROM orders"
        " JOIN customers ON customers.id = orders.customer_id WHERE orders.id = ?",
        (order_id,),
    ).fetchone()
    if row is None:
        raise ShopError(f"no order {order_id}")
    return row


def _euros(cents: int) -> str:
    return f"{cents / 100:.2f} EUR"
