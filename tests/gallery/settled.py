"""Cards of what was decided, ended or stopped; and what is told below a card."""

from __future__ import annotations

from hitl_core.model import Review
from tests.channels.scenes import (
    BOB,
    CARL,
    EMAIL,
    THREE,
    cancelled,
    decided,
    done,
    escalated,
    fired,
    lapsed,
    resolved,
    review_of,
    started,
)
from tests.gallery.showing import ASKED_IN, message, with_thread
from tests.gallery.waiting import REFUND, REFUND_RULE, TWO_OF_FINANCE


def _five() -> Review:
    review = review_of(
        *THREE,
        ("update_customer", {"customerId": "cus_88", "status": "new"}),
        ("update_customer", {"customerId": "cus_89", "status": "new"}),
        origin=ASKED_IN,
    )
    body = EMAIL["body"].replace("two to five days", "up to ten days")
    review = decided(review, "1", "edit", args={**EMAIL, "body": body})
    review = decided(review, "2", "reject", BOB, message="Do this in the admin tool.")
    review = decided(review, "3", "approve")
    review = decided(review, "4", "respond", message="cus_88 is a VIP already.")
    review = decided(review, "5", "ignore", BOB)
    return done(started(review, "1", "3"), {"1": "sent, message 7f21", "3": "cus_88 is a VIP"})


def _edited() -> Review:
    rules = {"interrupt_on": {"refund_order": REFUND_RULE}}
    statement = REFUND["statement"].replace("120.00", "80.00")
    args = {**REFUND, "amount": 80.0, "statement": statement}
    review = review_of(("refund_order", REFUND), policy=rules, origin=ASKED_IN)
    review = decided(review, "1", "edit", args=args)
    return done(started(review, "1"), {"1": "80.00 EUR paid back"})


def _rejected() -> Review:
    why = "The order set the status already: do this in the admin tool, where the trigger is off."
    return decided(review_of(THREE[1]), "1", "reject", BOB, message=why)


def _quorum() -> Review:
    review = review_of(("refund_order", REFUND), policy=TWO_OF_FINANCE)
    review = decided(review, "1", "edit", args={**REFUND, "amount": 80.0})
    return decided(decided(review, "1", "approve", BOB), "1", "approve", CARL)


def _expired() -> Review:
    policy = {"expire": {"after": "1h", "decision": "reject", "message": "Nobody was there."}}
    return fired(decided(review_of(*THREE[:2], policy=policy), "1", "approve"), 3600)


def _doubt() -> Review:
    rules = {"interrupt_on": {"refund_order": REFUND_RULE}}
    review = review_of(("refund_order", REFUND), policy=rules, origin=ASKED_IN)
    return lapsed(started(decided(review, "1", "approve"), "1"))


def _talked_about() -> Review:
    review = review_of(*THREE, policy={"remind": "5m"}, origin=ASKED_IN)
    review = fired(review, 300)
    review = decided(review, "2", "reject", BOB, message="Do this in the admin tool.", after=400)
    review = escalated(review, why="Jo is waiting, and I leave now.")
    return decided(review, "3", "edit", args={"customerId": "cus_88", "status": "new"}, after=500)


def _rejectable() -> Review:
    return review_of(THREE[1])


SCENES = (
    message("decided", "All five answers", _five),
    message("edited", "What was changed, and what came of it", _edited),
    message("rejected", "Rejected, with the reason that the agent is told", _rejected),
    message("quorum-decided", "Edited by one, approved by two", _quorum),
    message(
        "cancelled",
        "The agent needs no answer any more",
        lambda: cancelled(
            decided(review_of(*THREE), "1", "approve"),
            reason="The customer wrote again: the order stays.",
        ),
    ),
    message("cancelled-by-a-person", "Somebody stopped it", lambda: cancelled(_rejectable(), BOB)),
    message("expired", "Nobody decided in time", _expired),
    message("in-doubt", "The agent died in the middle of it", _doubt),
    message("doubt-answered", "Somebody looked", lambda: resolved(_doubt(), "1", "ran")),
    with_thread("thread", "What happened, below the card", _talked_about),
)
