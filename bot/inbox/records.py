"""What is recorded of people beside their decisions: what they have read, and each refused attempt."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from uuid import uuid4

from hitl_core.errors import HitlError, RefusalCode, Refused
from hitl_core.model import Action, DecisionType, Place, Review, Reviewer, Snapshot
from hitl_core.review import Reviews
from hitl_core.store import Store

from .. import click_budget
from ..card import Card, build_card
from ..offload import offload_drawing
from .press import ActionRef
from .reply import ReadRequired

log = logging.getLogger(__name__)


class ReadMarks:
    """Who has read all of an action: the policy may require that before an approval (`must_read`).
    `incomplete_actions` says which actions a card does not show completely."""

    def __init__(self, store: Store, incomplete_actions: Callable[[Card], Collection[str]]) -> None:
        self._store, self._incomplete_actions = store, incomplete_actions

    async def record(self, target: ActionRef, who: Reviewer) -> None:
        """Records that this person opened all of this revision. Never raises: without the record it opens
        again.
        """
        mark = _read_mark(target.action, target.revision, who)
        with contextlib.suppress(HitlError):
            await self._store.record_mark(target.review_id, mark)

    async def check(
        self, snapshot: Snapshot, actions: Iterable[Action], kind: DecisionType, who: Reviewer
    ) -> None:
        """Raises ReadRequired if the policy requires approvers to read all of it, this person has not opened
        it, and a card of theirs does not show it completely.
        """
        unread = [
            action
            for action in actions
            if (kind == "approve" or (kind == "edit" and action.route.reviewers.editor_approves))
            and action.is_pending
            and action.config.must_read
            and _read_mark(action.key, action.revision, who) not in snapshot.marks
        ]
        if not unread:
            return
        review = snapshot.review
        cut_at = await offload_drawing(review, lambda: self._cut_actions(review, unread))
        for action in unread:
            if any(action.key in cut_at[place] for place in action.places):
                raise ReadRequired(ActionRef(review.id, action.key, action.revision), action.name)

    def _cut_actions(
        self, review: Review, actions: Iterable[Action]
    ) -> dict[Place, Collection[str]]:
        """The keys of actions that the card does not show completely, for each of their places."""
        places = {place for action in actions for place in action.places}
        return {place: self._incomplete_actions(build_card(review, place)) for place in places}


def _read_mark(key: str, revision: int, who: Reviewer) -> str:
    return f"read:{key}:{revision}:{who.key}"


class RefusalAudit:
    """Every refused attempt is an entry of the audit: of a decision, and of what a person wanted to see."""

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews

    async def record(
        self, review_id: str, code: RefusalCode, who: Reviewer, op: str, action: str | None
    ) -> None:
        """`Reviews.record_refusal` within the time of a click. Never raises."""
        try:
            async with click_budget.timeout("record"):
                await self._reviews.record_refusal(review_id, code, who, op, action=action)
        except TimeoutError:
            log.warning("review %s: a refusal may be missing in the audit", review_id)

    @asynccontextmanager
    async def recorded(
        self, review_id: str, who: Reviewer, action: str | None = None
    ) -> AsyncGenerator[None]:
        """A refusal in the block is recorded."""
        try:
            yield
        except Refused as refused:
            await self.record(review_id, refused.code, who, f"look:{uuid4().hex}", action)
            raise
