"""Records who has read an action in full."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping

from hitl_core.errors import HitlError
from hitl_core.model import Action, DecisionType, DoubtAnswer, Review, Reviewer
from hitl_core.store import Store

from .press import ActionRef
from .reply import PermittedSnapshot, ReadRequired

log = logging.getLogger(__name__)


class ReadMarks:
    """Records who has read an action in full: `must_read` requires that before an approval."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def record(self, target: ActionRef, who: Reviewer) -> frozenset[str]:
        """Record that this person opened all of this revision. Returns the new mark, if it is stored. Never
        raises: without it, the pages open again.
        """
        mark = _read_mark(target.action, target.revision, who)
        with contextlib.suppress(HitlError):
            await self._store.record_mark(target.review_id, mark)
            return frozenset((mark,))
        return frozenset()

    def check(
        self,
        snapshot: PermittedSnapshot,
        kinds: Mapping[str, DecisionType | DoubtAnswer],
        seal: str | None,
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
                and _read_mark(action.key, action.revision, snapshot.who) not in snapshot.marks
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
