"""A transition → the write that stores it, with the new values of the store's indexes."""

from __future__ import annotations

from hitl_core.model import Review
from hitl_core.review import claims, due_times
from hitl_core.review.transition import Transition
from hitl_core.store import Write


def build_write(before: Review | None, changed: Transition, chain: str = "") -> Write:
    """The write for this change, with the new values of the store's indexes."""
    review, event = changed
    ready = claims.ready_at(review)
    was_ready = before is not None and claims.ready_at(before) is not None
    settled = review.status == "settled" and ready is not None
    had, has = before.audiences if before else frozenset[str](), review.audiences
    return Write(
        review,
        event,
        args={k: a for k, a in review.args.items() if before is None or k not in before.args},
        due_at=due_times.due_at(review),
        ready_at=ready,
        wakes_agent=(settled and (not was_ready or event.kind == "lapsed"))
        or review.status == "done",
        chain=chain,
        audiences_added=has - had,
        audiences_removed=had - has,
    )
