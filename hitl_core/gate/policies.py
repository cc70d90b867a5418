"""By which policy an agent's calls are judged: the audit hears of it when that changes."""

from __future__ import annotations

import logging
from functools import partial

from hitl_core.policy import Policy
from hitl_core.review.service import Reviews

log = logging.getLogger(__name__)


class PolicyNotes:
    """A policy file that was replaced, or rolled back, leaves an entry `policy_changed` in the audit. The
    store is asked once for each agent and policy, not at each submit.
    """

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._noted: dict[str, str] = {}

    async def note(self, agent: str, policy: Policy) -> None:
        """Before the first submit that it judged. Raises StoreUnavailable."""
        digest = policy.digest
        if self._noted.get(agent) == digest:
            return
        noting = partial(self._reviews.store.note_policy, agent, digest)
        before = await self._reviews.patiently(noting)
        self._noted[agent] = digest
        if before not in (None, digest):
            log.warning("The policy of %r changed from %.12s… to %.12s…", agent, before, digest)
