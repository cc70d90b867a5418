"""Records in the audit that an agent's policy has changed."""

from __future__ import annotations

import logging
from functools import partial

from hitl_core.policy import Policy
from hitl_core.review import Reviews

log = logging.getLogger(__name__)


class PolicyRecorder:
    """A policy file that was replaced or rolled back leaves an entry `policy_changed` in the audit. The store
    is called once for each agent and policy, not at each submit.
    """

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._digests: dict[str, str] = {}

    async def record(self, agent: str, policy: Policy) -> None:
        """Call it before the first submit under this policy. Raises StoreUnavailable."""
        digest = policy.digest
        if self._digests.get(agent) == digest:
            return
        record = partial(self._reviews.store.record_policy, agent, digest)
        before = await self._reviews.with_retry(record)
        self._digests[agent] = digest
        if before not in (None, digest):
            log.warning("The policy of %r changed from %.12s… to %.12s…", agent, before, digest)
