"""Cards of reviews that were decided, expired or stopped, and the lines below a card."""

from __future__ import annotations

from hitl_core.model import Review
from tests.channels.scenes import (
    BOB,
    CARL,
    EMAIL,
    apply_due,
    cancel,
    decide,
    done,
    escalate,
    expire_lease,
    resolve,
    start_calls,
)
from tests.gallery.calls import (
    BY_TWO,
    MAILING,
    QUERYING,
    REFUNDED_LESS,
    REFUNDING,
    UPDATING,
    WITH_OPS,
    ask,
)
from tests.gallery.showing import message, question, with_thread

_WHYS = {7: "cus_007 is a test account.", 23: "She left last year."}


def _five() -> Review:
    review = ask(
        MAILING,
        QUERYING,
        UPDATING,
        ("update_customer", {"customerId": "cus_88", "status": "new"}),
        ("update_customer", {"customerId": "cus_89", "status": "new"}),
    )
    body = EMAIL["body"].replace("two to five days", "up to ten days")
    review = decide(review, "1", "edit", args={**EMAIL, "body": body})
    review = decide(review, "2", "reject", BOB, message="Do this in the admin tool.")
    review = decide(review, "3", "approve")
    review = decide(review, "4", "respond", message="cus_88 is a VIP already.")
    review = decide(review, "5", "ignore", BOB)
    return done(start_calls(review, "1", "3"), {"1": "sent, message 7f21", "3": "cus_88 is a VIP"})


def _forty() -> Review:
    """Forty of one tool: approved, but for two."""
    calls = [
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip"}) for n in range(1, 41)
    ]
    review = ask(*calls)
    for n in range(1, 41):
        review = decide(
            review, str(n), "reject" if n in (7, 23) else "approve", BOB, message=_WHYS.get(n)
        )
    results = {str(n): f"cus_{n:03} is a VIP" for n in range(1, 41) if n not in _WHYS}
    return done(start_calls(review, *results), results)


def _edited() -> Review:
    review = decide(ask(REFUNDING), "1", "edit", args=REFUNDED_LESS)
    return done(start_calls(review, "1"), {"1": "80.00 EUR paid back"})


def _rejected() -> Review:
    why = "The order set the status already: do this in the admin tool, where the trigger is off."
    return decide(ask(QUERYING), "1", "reject", BOB, message=why)


def _quorum() -> Review:
    review = decide(ask(REFUNDING, **BY_TWO), "1", "edit", args=REFUNDED_LESS)
    return decide(decide(review, "1", "approve", BOB), "1", "approve", CARL)


def _cancelled() -> Review:
    review = decide(ask(MAILING, QUERYING, UPDATING), "1", "approve")
    return cancel(review, reason="The customer wrote again: the order stays.")


def _expired() -> Review:
    expire = {"after": "1h", "decision": "reject", "message": "Nobody was there."}
    return apply_due(decide(ask(MAILING, QUERYING, expire=expire), "1", "approve"), 3600)


def _doubt() -> Review:
    return expire_lease(start_calls(decide(ask(REFUNDING), "1", "approve"), "1"))


def _talked_about() -> Review:
    review = ask(MAILING, QUERYING, UPDATING, remind="5m", **WITH_OPS)
    review = escalate(review, why="Jo is waiting, and I leave now.")
    review = decide(review, "2", "reject", BOB, message="Do this in the admin tool.")
    review = apply_due(review, 360)
    changed = {"customerId": "cus_88", "status": "new"}
    return decide(review, "3", "edit", args=changed, after=500)


SCENES = (
    message("decided", "All five answers", _five),
    message("decided-forty", "Forty decisions, the same except two", _forty),
    message("edited", "What was changed, and what came of it", _edited),
    message("rejected", "Rejected, with the reason that the agent is told", _rejected),
    message("quorum-decided", "Edited by one, approved by two", _quorum),
    message("cancelled", "The agent needs no answer any more", _cancelled),
    message("cancelled-by-a-person", "Somebody stopped it", lambda: cancel(ask(QUERYING), BOB)),
    message("expired", "Nobody decided in time", _expired),
    message("in-doubt", "The agent died in the middle of it", _doubt),
    question("run-again-asks", "Run again asks: it may happen twice", _doubt, "doubt_rerun"),
    message("doubt-answered", "Somebody looked", lambda: resolve(_doubt(), "1", "ran")),
    with_thread("thread", "What happened, below the card", _talked_about),
)
