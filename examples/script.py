"""A cron script that reminds customers of overdue invoices. A person approves each reminder. No event loop.

    python -m examples.script --data shop.db

Needs Redis and a running bot (docs/quickstart.md). You can kill it at any point and run it again: it finds
its reviews, and what people decided meanwhile. If it was killed while it sent a reminder, a person is asked
whether that reminder was sent.
"""

from __future__ import annotations

import argparse
import os
import sqlite3

from hitl_core import HitlError, Policy, Rejected
from hitl_core.gate import blocking

POLICY = Policy.from_mapping(
    {
        "default": "deny",
        "interrupt_on": {
            "send_reminder": {
                "description": "Remind this customer?",
                "display": {"/text": "email"},  # how the card shows this argument
            }
        },
    }
)
INVOICES = """
CREATE TABLE IF NOT EXISTS invoices (id TEXT PRIMARY KEY, email TEXT, eur INT, state TEXT);
INSERT OR IGNORE INTO invoices VALUES
    ('R-17', 'jo@example.com', 80, 'overdue'), ('R-18', 'kim@example.com', 120, 'overdue');
"""


def run(db: sqlite3.Connection, gate: blocking.BlockingGate) -> None:
    @gate.guard
    def send_reminder(invoice: str, to: str, text: str) -> None:
        """Sends the reminder and records it: the script never asks again for a recorded invoice."""
        print(f"to {to}: {text}")  # your mail server goes here
        record(db, invoice, "reminded")

    overdue = "SELECT id, email, eur FROM invoices WHERE state = 'overdue' ORDER BY id"
    for invoice, email, eur in db.execute(overdue).fetchall():
        # One thread per invoice, so that tomorrow's run finds the reviews of this one.
        with gate.thread(f"reminder-{invoice}"):
            try:
                send_reminder(invoice, to=email, text=f"{invoice}: {eur} EUR are overdue.")
            except Rejected as refused:
                print(f"{invoice}: {refused}")
                record(db, invoice, "left")
            else:  # already recorded, unless the run that sent it was killed
                record(db, invoice, "reminded")


def record(db: sqlite3.Connection, invoice: str, state: str) -> None:
    with db:
        db.execute("UPDATE invoices SET state = ? WHERE id = ?", [state, invoice])


def main() -> None:
    parser = argparse.ArgumentParser(description="Remind customers of overdue invoices.")
    parser.add_argument("--data", default="shop.db", help="the invoices, in SQLite")
    env = os.environ.get("HITL_REDIS_URL", "redis://127.0.0.1:6379/0")
    parser.add_argument("--redis", default=env, metavar="URL", help="or set HITL_REDIS_URL")
    args = parser.parse_args()
    with blocking.connect(args.redis, policy=POLICY, agent="reminders") as gate:
        db = sqlite3.connect(args.data)
        db.executescript(INVOICES)
        run(db, gate)


if __name__ == "__main__":
    try:
        main()
    except HitlError as error:
        raise SystemExit(f"script: {error}") from None
