"""What a command of the operator stores, also if the command is refused."""

from __future__ import annotations

import pytest

from hitl_core.cli.reviews.change_review import new_op, store_change
from hitl_core.errors import Refused
from hitl_core.model import CLI, Reviewer
from hitl_core.review import Decide, Reviews
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import MemoryStore
from tests.store.steps import audit_of
from tests.support.builders import START, call, review_of

ROOT = Reviewer(channel=CLI, team="", id="root", name="root")


async def test_a_refused_command_is_in_the_audit() -> None:
    """Given two operators who decide one call at once; then the second one is refused, and both are entries
    of the audit; a mistake that can be corrected is none."""
    store = MemoryStore(lambda: START)
    reviews = Reviews(store)
    review, event = review_of([call("ask")])
    await reviews.submit(review, event)

    async def decide(proposal: Proposal) -> None:
        await store_change(reviews, Decide(review.id, "1", proposal, ROOT, new_op()))

    await decide(Proposal("approve", 1))
    with pytest.raises(Refused, match="already"):
        await decide(Proposal("reject", 1))
    await reviews.record_refusal(review.id, "busy", ROOT, new_op())
    with pytest.raises(Refused):
        await decide(Proposal("approve", 1))
    entries = [entry for entry in await audit_of(store) if entry["kind"] == "refused"]
    assert [(entry["by"]["id"], entry["what"]) for entry in entries] == [
        ("root", "already_decided"),
        ("root", "already_decided"),
    ]
