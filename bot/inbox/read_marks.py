"""Who has read all of an action. The policy may require that before an approval (`must_read`)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable

from hitl_core.errors import HitlError
from hitl_core.model import Action, DecisionType, Place, Review, Reviewer, Snapshot
from hitl_core.store import Store

from ..card import Card, build_card
from ..offload import offload_drawing
from .commands import ActionRef
from .reply import ReadRequired


class ReadMarks:
    """`incomplete_actions` says which actions a card does not show completely."""

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
