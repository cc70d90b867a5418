"""`hitl teams-names`: the conversations that the names of places in Teams mean, and how a name
is forgotten.
"""

from __future__ import annotations

import json

from tests.cli.desk import Desk

CONVERSATION = "19:4a1f0c@thread.tacv2"


def keep(desk: Desk, name: str) -> None:
    desk.do(
        lambda reviews: reviews.store.save_channel_value(
            "teams", f"name:{name}", CONVERSATION.encode()
        )
    )


def test_the_kept_names_are_listed(desk: Desk) -> None:
    empty = desk.hitl("teams-names", "list")
    assert (empty.code, empty.out) == (0, "")
    desk.do(
        lambda reviews: reviews.store.save_channel_value(
            "teams", f"conversation:{CONVERSATION}", b"{}"
        )
    )
    keep(desk, "Operations")
    keep(desk, "\x1b[2K")

    rows = desk.hitl("teams-names", "list").out.splitlines()

    assert rows == [f"\\x1b[2K\t{CONVERSATION}", f"Operations\t{CONVERSATION}"]
    found = json.loads(desk.hitl("teams-names", "list", "--json").out)
    assert found[1] == {"name": "Operations", "conversation": CONVERSATION}


def test_a_name_is_forgotten_once(desk: Desk) -> None:
    keep(desk, "Operations")
    ran = desk.hitl("teams-names", "forget", "Operations")
    assert (ran.code, ran.out) == (0, f"forgot Operations: it led to {CONVERSATION}\n")
    again = desk.hitl("teams-names", "forget", "Operations")
    assert (again.code, again.out) == (1, "")
    assert "hitl teams-names list" in again.err
