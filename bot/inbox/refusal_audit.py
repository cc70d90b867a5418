"""Records each refused attempt in the audit."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import uuid4

from hitl_core.errors import RefusalCode, Refused
from hitl_core.model import Place, Reviewer
from hitl_core.review import Reviews

from .. import click_budget

log = logging.getLogger(__name__)


class RefusalAudit:
    """Records every refused attempt in the audit: to decide, and to see something."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def record(
        self,
        review_id: str,
        code: RefusalCode,
        who: Reviewer,
        op: str,
        action: str | None,
        place: Place | None = None,
    ) -> None:
        """Like `Reviews.record_refusal`, within the time of a click. Never raises."""
        try:
            async with click_budget.timeout("record"):
                await self._reviews.record_refusal(
                    review_id, code, who, op, action=action, place=place
                )
        except TimeoutError:
            log.warning("review %s: a refusal may be missing in the audit", review_id)

    @asynccontextmanager
    async def watch(
        self, review_id: str, who: Reviewer, action: str | None = None
    ) -> AsyncGenerator[None]:
        """Records a refusal that is raised in the block."""
        try:
            yield
        except Refused as refused:
            await self.record(review_id, refused.code, who, f"look:{uuid4().hex}", action)
            raise
