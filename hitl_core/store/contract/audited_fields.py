"""Values that the store writes together with their audit entry."""

from __future__ import annotations

from typing import Protocol

from hitl_core.audit import Ledger
from hitl_core.model import Event, MessageRef, Place


def delivery_event(review_id: str, place: Place, ref: MessageRef, now: float) -> Event:
    """The event of the first message about this review at this place."""
    where = f"{ref.channel}:{ref.conversation}/{ref.ts}"
    return Event(kind="delivered", review_id=review_id, at=now, place=place, what=where)


class AuditedFields(Protocol):
    """Each value is written in one step with its entry. `ledger` holds the entries."""

    @property
    def ledger(self) -> Ledger: ...

    async def record_event(self, review_id: str, event: Event) -> None:
        """Add an event that changes nothing in the review to the review's audit, at the store's time: a
        refused attempt, or an operator's action. The same `op` twice in a row is one event. Does nothing if
        there is no such review.
        """
        ...

    async def record_post(
        self,
        review_id: str,
        place: Place,
        ref: MessageRef,
        gone: MessageRef | None = None,
        digest_id: str | None = None,
    ) -> MessageRef:
        """Record the message in which the card was posted. The first message wins, becomes an entry
        `delivered` in the audit, and is returned. `gone`: a message that was deleted; this one may replace
        it. `digest_id`: record it only if the review is in this digest.
        """
        ...

    async def record_policy(self, agent: str, policy_hash: str) -> str | None:
        """Record the hash of this agent's policy. Returns the hash that was recorded before, or None. If
        the two differ, an entry `policy_changed` with both is added to the audit.
        """
        ...
