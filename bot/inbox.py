"""What a person did → a decision → what the person is told."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping

from bot import budget
from bot.access import Access
from bot.card import Card
from bot.click import AWAY, PATIENCE, UNAUDITED, UNKNOWN, Reply, Target, Unread
from bot.directory import Directory
from bot.drafts import Drafts
from hitl_core.errors import HitlError, Refused, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.model import DoubtAnswer, MessageRef, Review, Reviewer
from hitl_core.review import execution, transitions
from hitl_core.review.service import Reviews
from hitl_core.review.transitions import Changed, Proposal

log = logging.getLogger(__name__)


class Inbox:
    """`op` names one click or submission: the same one counts once, however often it arrives."""

    def __init__(
        self, reviews: Reviews, directory: Directory, cut: Callable[[Card], Collection[str]]
    ) -> None:
        """`cut` says which actions a card doesn't show whole."""
        self._reviews, self._directory = reviews, directory
        self.access = Access(reviews, directory, cut)
        self.drafts = Drafts(reviews.store)

    async def who(self, user_id: str, team: str, name: str) -> Reviewer:
        """A clicking person. `name` is what is known of them, should nobody be able to look it up."""
        return await self._directory.reviewer(user_id, team, name)

    async def decide(self, target: Target, proposal: Proposal, who: Reviewer, op: str) -> Reply:
        async def act() -> None:
            seen = await self.access.may_see(target, who)
            action = seen.review.action(target.action)
            if action is not None and op not in seen.review.ops:
                self.access.check_read(seen, action, proposal.type, who)
            lapsed = await self.access.lapsed(seen, target.action)
            entitled = await self.access.is_entitled(seen, target.action, proposal, who, op)
            await failpoint("bot.before_commit")
            await self._reviews.decide(
                target.review_id,
                target.action,
                proposal,
                who,
                op,
                seen,
                lapsed=lapsed,
                entitled=entitled,
            )
            await failpoint("bot.after_commit")

        return await self._apply(target.review_id, target.action, who, op, act)

    async def approve_all(
        self, review_id: str, revisions: Mapping[str, int], seal: str, who: Reviewer, op: str
    ) -> Reply:
        """All actions whose revisions one card showed, by their keys: every one of them, or nothing. `seal`
        is that of all of them together.
        """

        async def act() -> None:
            seen = await self.access.to(review_id, list(revisions), who)
            for action in seen.review.actions:
                if action.key in revisions and op not in seen.review.ops:
                    self.access.check_read(seen, action, "approve", who)
            lapsed = {key: await self.access.lapsed(seen, key) for key in revisions}
            proposals = {key: Proposal("approve", revision) for key, revision in revisions.items()}
            await self._reviews.answer(
                review_id, proposals, who, op, seen, lapsed=lapsed, seal=seal
            )

        return await self._apply(review_id, ",".join(revisions), who, op, act)

    async def escalate(
        self, target: Target, at: MessageRef, why: str | None, who: Reviewer, op: str
    ) -> Reply:
        """Everything that waits on this card, one step on. The target's revision is how many steps that card
        showed.
        """

        async def act() -> None:
            seen, place = await self.access.may_escalate(target.review_id, at, who)
            await self._reviews.change(
                target.review_id,
                op,
                lambda r, now: transitions.escalate(
                    r, place, who, now, taken=target.revision, why=why
                ),
                seen,
            )

        return await self._apply(target.review_id, None, who, op, act)

    async def resolve(self, target: Target, answer: DoubtAnswer, who: Reviewer, op: str) -> Reply:
        """The target's revision is the attempt that the card asked about."""

        async def act() -> None:
            seen = await self.access.may_see(target, who)
            lapsed = await self.access.lapsed(seen, target.action)

            def resolved(review: Review, now: float) -> Changed:
                return execution.resolve(
                    review, target.action, answer, who, now,
                    attempt=target.revision, lapsed=lapsed, seal=target.seal,
                )  # fmt: skip

            await self._reviews.change(target.review_id, op, resolved, seen)

        return await self._apply(target.review_id, target.action, who, op, act)

    async def redraw(self, review_id: str, at: MessageRef, *, only_second: bool = False) -> None:
        """Somebody pressed on this message, which shows something old. It raises nothing."""
        await self._reviews.redraw(review_id, at, only_second=only_second)

    async def _apply(
        self,
        review_id: str,
        action: str | None,
        who: Reviewer,
        op: str,
        act: Callable[[], Awaitable[None]],
    ) -> Reply:
        """Within the time that a click has; every refusal is a sentence, and the log has no arguments."""
        try:
            async with budget.within(PATIENCE):
                await act()
        except Refused as refused:
            log.info("review %s: %s refused %s", review_id, refused.code, who.id)
            if refused.code not in UNAUDITED:
                await self._reviews.attempt(review_id, refused.code, who, op, action=action)
            unread = refused.target if isinstance(refused, Unread) else None
            return Reply(refused.code, str(refused), unread)
        except (TimeoutError, StoreUnavailable) as error:
            log.warning("review %s: a click could not be stored: %s", review_id, error)
            return Reply("unavailable", UNKNOWN)
        except HitlError as error:
            log.error("review %s: a click failed: %s", review_id, error)
            return Reply("unavailable", AWAY)
        return Reply("ok")
