"""One event of a review. It becomes an entry of the audit, and it tells the bots what to do."""

from __future__ import annotations

from typing import Literal

from hitl_core.errors import RefusalCode
from hitl_core.model.decision import Reviewer
from hitl_core.model.place import Place
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
    "retried",
    "dropped",
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
    "stuck",
    "resolved",
    "released",
    "done",
]

#: After these events every card of the review is updated.
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
        "stuck",
        "resolved",
        "released",
        "done",
    }
)
#: These are internal and get no entry in the audit.
UNAUDITED_KINDS: frozenset[EventKind] = frozenset(
    {"awaited", "renewed", "unreachable", "reachable", "stuck"}
)

#: Refusals that are not worth an audit entry: a mistake that the person can fix, or our own problem.
UNAUDITED_CODES: frozenset[RefusalCode] = frozenset(
    {
        "bad_answer",
        "busy",
        "gone",
        "held",
        "invalid_answer",
        "invalid_args",
        "message_required",
        "unavailable",
        "unchanged",
        "unknown_members",
        "unread",
    }
)


class Event(Value):
    """Who did what, when, in which place, by which operation.

    It never has the arguments, only their hashes: `before` and `args_hash` are those before and after the
    event. `policy` is the policy's hash, `rule` the rule's name. For an event of several actions each of
    these fields is a list with commas, in the same order.

    `what` is the decision, the place of the escalation, the code of a refusal, or the job of a dead letter
    that was `retried` or `dropped`. `why` is the person's text, or the reason that was given to the person.
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
    args_hash: str | None = None
    policy: str | None = None
    rule: str | None = None
    op: str | None = None
