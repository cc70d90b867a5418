"""What a person did → a decision → the reply to the person."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping

from hitl_core.errors import HitlError, Refused, StoreUnavailable
from hitl_core.failpoints import failpoint
from hitl_core.model import DoubtAnswer, MessageRef, Review, Reviewer
from hitl_core.review import Proposal, Reviews, Transition, claims, escalation

from .. import click_budget
from ..card import Card
from ..people import Directory
from .access import ReviewAccess
from .commands import (
    CLICK_TIMEOUT,
    RESULT_UNKNOWN,
    STORE_UNAVAILABLE,
    UNAUDITED_REFUSALS,
    ActionRef,
    ReadRequired,
    Reply,
)
from .drafts import Drafts

log = logging.getLogger(__name__)


class Inbox:
    """Applies what people do. `op` is the id of one click or submission: the same id counts only once."""

    def __init__(
        self,
        reviews: Reviews,
        directory: Directory,
        incomplete_actions: Callable[[Card], Collection[str]],
    ) -> None:
        """`incomplete_actions` says which actions a card does not show completely."""
        self._reviews, self._directory = reviews, directory
        self.access = ReviewAccess(reviews, directory, incomplete_actions)
        self.drafts = Drafts(reviews.store)

    async def load_reviewer(self, channel: str, user_id: str, team: str, name: str) -> Reviewer:
        """The person who clicked. `name` is used if the look-up fails."""
        return await self._directory.load_reviewer(channel, user_id, team, name)

    async def decide(self, target: ActionRef, proposal: Proposal, who: Reviewer, op: str) -> Reply:
        async def act() -> None:
            snapshot = await self.access.load_for_view(target, who)
            action = snapshot.review.action(target.action)
            if action is not None and op not in snapshot.review.ops:
                await self.access.check_read(snapshot, [action], proposal.type, who)
            ineligible_voters = await self.access.ineligible_voters(snapshot, target.action)
            entitled = await self.access.is_entitled(snapshot, target.action, proposal, who, op)
            await failpoint("bot.before_commit")
            await self._reviews.decide(
                target.review_id,
                target.action,
                proposal,
                who,
                op,
                snapshot,
                ineligible_voters=ineligible_voters,
                has_new_grant=entitled,
            )
            await failpoint("bot.after_commit")

        return await self._apply(target.review_id, target.action, who, op, act)

    async def approve_all(
        self, review_id: str, revisions: Mapping[str, int], seal: str, who: Reviewer, op: str
    ) -> Reply:
        """Approves all these actions or none. `revisions` are those that the card showed, by action key;
        `seal` is the seal of all of them together.
        """

        async def act() -> None:
            snapshot = await self.access.load_permitted(review_id, list(revisions), who)
            if op not in snapshot.review.ops:
                actions = [each for each in snapshot.review.actions if each.key in revisions]
                await self.access.check_read(snapshot, actions, "approve", who)
            ineligible_voters = {
                key: await self.access.ineligible_voters(snapshot, key) for key in revisions
            }
            proposals = {key: Proposal("approve", revision) for key, revision in revisions.items()}
            await self._reviews.decide_all(
                review_id,
                proposals,
                who,
                op,
                snapshot,
                ineligible_voters=ineligible_voters,
                seal=seal,
            )

        return await self._apply(review_id, ",".join(revisions), who, op, act)

    async def escalate(
        self, target: ActionRef, message_ref: MessageRef, why: str | None, who: Reviewer, op: str
    ) -> Reply:
        """Escalates all pending actions of this card by one step. `target.revision` is the number of steps
        that the card showed.
        """

        async def act() -> None:
            snapshot, place = await self.access.load_for_escalation(
                target.review_id, message_ref, who
            )
            await self._reviews.change(
                target.review_id,
                op,
                lambda r, now: escalation.escalate(
                    r, place, who, now, steps_on_card=target.revision, why=why
                ),
                snapshot,
            )

        return await self._apply(target.review_id, None, who, op, act)

    async def answer_doubt(
        self, target: ActionRef, answer: DoubtAnswer, who: Reviewer, op: str
    ) -> Reply:
        """`target.revision` is the attempt that the card asked about."""

        async def act() -> None:
            snapshot = await self.access.load_for_view(target, who)
            ineligible_voters = await self.access.ineligible_voters(snapshot, target.action)

            def transition(review: Review, now: float) -> Transition:
                return claims.resolve(
                    review, target.action, answer, who, now,
                    attempt=target.revision, ineligible_voters=ineligible_voters, seal=target.seal,
                )  # fmt: skip

            await self._reviews.change(target.review_id, op, transition, snapshot)

        return await self._apply(target.review_id, target.action, who, op, act)

    async def redraw(
        self, review_id: str, message_ref: MessageRef, *, only_second: bool = False
    ) -> None:
        """Update this message: somebody clicked on it, and it is out of date. Never raises."""
        await self._reviews.redraw(review_id, message_ref, only_duplicate=only_second)

    async def _apply(
        self,
        review_id: str,
        action: str | None,
        who: Reviewer,
        op: str,
        act: Callable[[], Awaitable[None]],
    ) -> Reply:
        """Runs `act` within the time limit of a click. Every error becomes a Reply; the log has
        no arguments.
        """
        try:
            async with click_budget.timeout(CLICK_TIMEOUT):
                await act()
        except Refused as refused:
            log.info("review %s: %s refused %s", review_id, refused.code, who.id)
            if refused.code not in UNAUDITED_REFUSALS:
                await self._reviews.record_refusal(review_id, refused.code, who, op, action=action)
            unread = refused.target if isinstance(refused, ReadRequired) else None
            return Reply(refused.code, str(refused), unread)
        except (TimeoutError, StoreUnavailable) as error:
            log.warning("review %s: a click could not be stored: %s", review_id, error)
            return Reply("unavailable", RESULT_UNKNOWN)
        except HitlError as error:
            log.error("review %s: a click failed: %s", review_id, error)
            return Reply("unavailable", STORE_UNAVAILABLE)
        return Reply("ok")
