"""What in a review waits for one person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import Action, Grant, Reviewer, Snapshot
from hitl_core.review import decisions

from ... import refusals
from ...people import Directory
from ..reading import needs_others
from ..reply import PermittedSnapshot


class PermissionUnknown(Exception):
    """It is unknown now whether this person may decide. The text is a sentence."""


class OpenKeys(NamedTuple):
    """The keys of the actions that a person should decide, and of the doubts that they should answer.
    `is_unsure`: of others that is unknown.
    """

    actions: tuple[str, ...]
    doubts: tuple[str, ...]
    is_unsure: bool


class HomePermissions:
    """Finds what in a review waits for one person."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def open_keys(self, who: Reviewer, snapshot: Snapshot) -> OpenKeys:
        """What waits for this person. Raises PermissionUnknown if nothing is certain and some is unknown."""
        review = snapshot.review
        actions = [action for action in review.actions if action.is_pending]
        open_ = [
            call
            for call in review.calls_in_doubt
            if not any(vote.by.is_same_human(who) for vote in review.runs[call.key].votes)
        ]
        keys, doubts, unknown = list[str](), list[str](), list[PermissionUnknown]()
        for action in actions:
            try:
                if await self._needs_decision(who, snapshot, action):
                    keys.append(action.key)
            except PermissionUnknown as error:
                unknown.append(error)
        for call in open_:
            try:
                if await self.can_decide(who, snapshot, review.grants_of(call)):
                    doubts.append(call.key)
            except PermissionUnknown as error:
                unknown.append(error)
        if unknown and not (keys or doubts):
            raise unknown[0]
        return OpenKeys(tuple(keys), tuple(doubts), bool(unknown))

    async def may_need_decision(self, who: Reviewer, snapshot: Snapshot) -> bool:
        """Whether the review may wait for this person. True if that is unknown."""
        try:
            waiting = await self.open_keys(who, snapshot)
            return bool(waiting.actions or waiting.doubts)
        except PermissionUnknown:
            return True

    async def _needs_decision(self, who: Reviewer, snapshot: Snapshot, action: Action) -> bool:
        review = snapshot.review
        if needs_others(review, action, who):
            return False
        try:
            decisions.check_decidable(review, action, action.revision, snapshot.now)
        except Refused:
            return False
        return await self.can_decide(who, snapshot, action.grants)

    async def can_decide(self, who: Reviewer, snapshot: Snapshot, grants: Sequence[Grant]) -> bool:
        """Raises PermissionUnknown."""
        seen = snapshot if isinstance(snapshot, PermittedSnapshot) else None
        if seen and seen.who.key == who.key and seen.permits(grants):
            return True
        try:
            await self._directory.check_can_decide(who, snapshot, grants)
        except Refused as refused:
            if refused.code in refusals.UNKNOWN_CODES:
                raise PermissionUnknown(str(refused)) from refused
            return False
        return True
