"""Records what people have read, and each refused attempt."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from uuid import uuid4

from hitl_core.errors import HitlError, RefusalCode, Refused
from hitl_core.model import Action, DecisionType, DoubtAnswer, Place, Review, Reviewer, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import Store

from .. import click_budget
from .press import ActionRef
from .reply import ReadRequired

log = logging.getLogger(__name__)


class ReadMarks:
    """Records who has read an action in full: `must_read` requires that before an approval."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def record(self, target: ActionRef, who: Reviewer) -> None:
        """Record that this person opened all of this revision. Never raises: without it, the pages open
        again.
        """
        mark = _read_mark(target.action, target.revision, who)
        with contextlib.suppress(HitlError):
            await self._store.record_mark(target.review_id, mark)

    def check(
        self,
        snapshot: Snapshot,
        kinds: Mapping[str, DecisionType | DoubtAnswer],
        seal: str | None,
        who: Reviewer,
    ) -> None:
        """Raises ReadRequired if one of these decisions (by the actions' keys) makes a call run that must be
        read, and this person has not read it. The `seal` of their button says whether they saw all of it or
        only a part; if only a part, they must have opened the rest. For any other seal, `check_seal` refuses
        before the commit, as stale.
        """
        review = snapshot.review
        for action in review.actions:
            kind = kinds.get(action.key)
            if (
                kind is not None
                and action.config.must_read
                and _makes_run(review, action, kind)
                and _read_mark(action.key, action.revision, who) not in snapshot.marks
                and seal in (None, review.seal(*kinds, is_whole=False))
            ):
                target = ActionRef(review.id, action.key, action.revision)
                raise ReadRequired(target, action.name, kind)


def _makes_run(review: Review, action: Action, kind: DecisionType | DoubtAnswer) -> bool:
    if kind == "rerun":
        return any(call.key == action.key for call in review.calls_in_doubt)
    approves = kind == "approve" or (kind == "edit" and action.route.reviewers.editor_approves)
    return approves and action.is_pending


def _read_mark(key: str, revision: int, who: Reviewer) -> str:
    return f"read:{key}:{revision}:{who.key}"


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
