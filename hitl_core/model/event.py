"""One thing that happened to a review: an entry of the audit, and a hint for the bots."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.decision import Reviewer
from hitl_core.model.route import Place
from hitl_core.model.value import Value

EventKind = Literal[
    "submitted",
    "voted",
    "edited",
    "decided",
    "refused",
    "delivered",
    "undeliverable",
    "unreachable",
    "reachable",
    "escalated",
    "reminded",
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
REDRAW_KINDS: frozenset[EventKind] = frozenset(
    {
        "submitted",
        "voted",
        "edited",
        "decided",
        "undeliverable",
        "unreachable",
        "reachable",
        "escalated",
        "reminded",
        "expired",
        "cancelled",
        "reported",
        "lapsed",
        "resolved",
        "done",
    }
)
#: Bookkeeping that no audit asks for.
UNAUDITED_KINDS: frozenset[EventKind] = frozenset(
    {"awaited", "renewed", "unreachable", "reachable"}
)


class Event(Value):
    """Who did what, when, in which place, by which operation. Never the arguments: `before` and `digest` are
    those that they had before it and after it. `policy` is the digest of the policy, `rule` the rule's name.
    Of several actions at once each of these is a list with commas, in the same order.

    `what` is the decision, the step's place, or a refusal's code; `why` what a person wrote, or was told.
    """

    kind: EventKind
    review_id: str
    at: float
    by: Reviewer | None = None
    action: str | None = None
    what: str | None = None
    why: str | None = None
    place: Place | None = None
    before: str | None = None
    digest: str | None = None
    policy: str | None = None
    rule: str | None = None
    op: str | None = None
