"""One thing that happened to a review: an entry of the audit, and a hint for the bots."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.decision import Reviewer
from hitl_core.model.value import Value

EventKind = Literal[
    "submitted",
    "decided",
    "escalated",
    "expired",
    "cancelled",
    "awaited",
    "claimed",
    "renewed",
    "started",
    "reported",
    "lapsed",
    "resolved",
    "done",
]

#: Events after which every card of the review is drawn again.
SHOWN: frozenset[EventKind] = frozenset(
    {
        "submitted",
        "decided",
        "escalated",
        "expired",
        "cancelled",
        "reported",
        "lapsed",
        "resolved",
        "done",
    }
)
#: Bookkeeping that no audit asks for.
UNAUDITED: frozenset[EventKind] = frozenset({"awaited", "renewed"})


class Event(Value):
    """Who did what, when; with the digest of the arguments that it was about. Never the arguments."""

    kind: EventKind
    review_id: str
    at: float
    by: Reviewer | None = None
    action: str | None = None
    what: str | None = None
    digest: str | None = None
