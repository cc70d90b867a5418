"""A policy for guarded functions, and a person who decides."""

from __future__ import annotations

from typing import Any

from hitl_core import Policy
from hitl_core.model import Reviewer
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from tests.support.jobs import next_job

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")


POLICY = Policy.from_mapping(
    {
        "default": "deny",
        "interrupt_on": {
            "add": {"allowed_decisions": ["approve", "edit", "reject", "respond"]},
            "read": False,
        },
    }
)


async def decide(store: Any, proposal: Proposal) -> None:
    """Decide the first action of the next review, as a bot's reader would see it."""
    reviews = Reviews(store)
    while True:
        review = (await reviews.load((await next_job(store)).review_id)).review
        if review.status == "pending":
            await reviews.apply(Decide(review.id, "1", proposal, ALICE, f"op:{review.id}"))
            return
