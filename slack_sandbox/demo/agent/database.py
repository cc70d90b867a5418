"""The shop's SQLite database: a few customers and their orders."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TABLES = [
    (
        "CREATE TABLE customers (id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL,"
        " status TEXT NOT NULL, note TEXT)"
    ),
    (
        "CREATE TABLE orders (id INTEGER PRIMARY KEY,"
        " customer_id TEXT NOT NULL REFERENCES customers (id), item TEXT NOT NULL,"
        " total_cents INTEGER NOT NULL, refunded_cents INTEGER NOT NULL DEFAULT 0,"
        " refund_reason TEXT, status TEXT NOT NULL)"
    ),
]
CUSTOMERS = [
    ("C-1", "Jo", "jo@example.com", "active"),
    ("C-2", "Amira Haddad", "amira@example.com", "vip"),
    ("C-3", "Lars Nyberg", "lars@example.com", "active"),
]
ORDERS = [
    (1041, "C-2", "Standing desk", 54900, "shipped"),
    (1042, "C-1", "Espresso grinder", 12000, "delivered"),
    (1043, "C-1", "Paper filters", 890, "paid"),
    (1044, "C-3", "Desk lamp", 4550, "delivered"),
]


def seed(path: Path) -> None:
    """Create the database at `path` with its first rows, unless it exists."""
    with open_database(path) as db:
        # Two processes may start at the same time, and each may be killed.
        db.execute("BEGIN IMMEDIATE")
        if db.execute("PRAGMA user_version").fetchone()[0]:
            return
        for table in TABLES:
            db.execute(table)
        db.executemany(
            "INSERT INTO customers (id, name, email, status) VALUES (?, ?, ?, ?)", CUSTOMERS
        )
        db.executemany(
            "INSERT INTO orders (id, customer_id, item, total_cents, status)"
            " VALUES (?, ?, ?, ?, ?)",
            ORDERS,
        )
        db.execute("PRAGMA user_version = 1")


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """One connection for one transaction: committed at the end, rolled back on an error."""
    db = sqlite3.connect(path, timeout=5)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    db.set_authorizer(_within_this_file)
    try:
        with db:
            yield db
    finally:
        db.close()


def _within_this_file(action: int, *_: str | None) -> int:
    """Refuse SQL that opens other files: ATTACH, and VACUUM INTO, which uses ATTACH."""
    outside = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
    return sqlite3.SQLITE_DENY if outside else sqlite3.SQLITE_OK
