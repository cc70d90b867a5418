"""The operations of the HTTP API that submit and read reviews, a method each, for an agent with a token."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from functools import partial

from hitl_core.errors import ReviewConflict, ReviewUnreadable
from hitl_core.failpoints import failpoint
from hitl_core.gate import PolicyRecorder, ReviewKey, open_turn, read_origin
from hitl_core.model import Review, Snapshot, Token
from hitl_core.store import Store, ThreadState

from ..web import ApiProblem, invalid_at
from . import named_claims
from .agent_claims import HTTP_PROCESS, AgentClaims
from .long_poll import LongPoll
from .policies import Policies
from .review_view import has_outcome
from .store_access import StoreAccess
from .submissions import JudgedTurn, judge_turn, run_work
from .wire import (
    MAX_BODY,
    Submit,
    SubmitInterrupt,
)

log = logging.getLogger(__name__)

#: The most review ids that one request reads; of those that can be claimed, how many it reads at once.
MAX_LISTED = 1000


class AgentApi:
    """Every method raises ApiProblem, LeaseLost, Refused, StoreUnavailable or StoreError; then nothing was
    changed.

    A token can access only its agent's reviews. `key` is the client's Idempotency-Key: a repeated request
    with the same key gets the same answer.
    """

    def __init__(self, store: Store, policies: Policies) -> None:
        self._access, self._policies, self._long_poll = (
            StoreAccess(store),
            policies,
            LongPoll(store),
        )
        self._policy_notes = PolicyRecorder(self._access.reviews)
        self.claims = AgentClaims(self._access)

    async def close(self) -> None:
        """Answer all long polls now."""
        await self._long_poll.close()

    async def authenticate(self, text: str) -> Token:
        """The token with this text."""
        return await self._access.load_token(text)

    async def submit(
        self, who: Token, submission: Submit | SubmitInterrupt, *, large: bool = False
    ) -> list[tuple[Review, bool]]:
        """The reviews, each with whether it is new; False if this turn was submitted before. There are
        several only for several interrupts.
        """
        policy = self._policies.for_agent(who.agent)
        judged_turns = await judge_turn(policy, submission, large=large)
        await self._access.run(partial(self._policy_notes.record, who.agent, policy))
        turn = ReviewKey(
            who.agent,
            submission.thread_id,
            submission.turn or "",
            submission.requester,
            submission.origin,
        )
        with invalid_at("/origin"):
            read_origin(submission.origin)
        ids, is_named = [c.id for c in judged_turns[0].request.calls], submission.turn is not None
        find = partial(open_turn, self._access.reviews, turn, ids, is_named=is_named)
        turn, thread = await self._access.run(find)
        return [await self._store_turn(each, turn, thread, large) for each in judged_turns]

    async def _store_turn(
        self, judged_turn: JudgedTurn, turn: ReviewKey, thread: ThreadState, large: bool
    ) -> tuple[Review, bool]:
        reviews, store = self._access.reviews, self._access.store
        with invalid_at("/requester"):
            build = partial(judged_turn.build, turn, store.partitions, thread.now)
            review, event = await run_work(build, large)
        review = review.model_copy(update={"waiting_process": HTTP_PROCESS})
        await failpoint("api.before_submit")
        try:
            stored = await self._access.run(partial(reviews.submit, review, event, thread.rejected))
        except ReviewConflict as error:
            raise ApiProblem("conflict", str(error)) from error
        # Each submit has its own time, so this is also True if only the reply of the first try was lost.
        return stored, stored.created_at == review.created_at

    async def load(self, who: Token, review_id: str) -> Review:
        return (await self._access.load_review(who, review_id)).review

    async def wait_settled(
        self, who: Token, review_id: str, wait: float, is_gone: Callable[[], bool]
    ) -> None:
        """Waits at most `wait` seconds until everything is decided, or until the client `is_gone`."""

        async def is_settled() -> bool:
            return has_outcome(await self.load(who, review_id))

        key = (who.agent, review_id)
        await self._long_poll.wait(review_id, key, is_settled, wait, is_gone)

    async def list_thread(self, who: Token, thread_id: str, limit: int) -> list[Review]:
        """The thread's reviews: live ones first, in order of submission. At most MAX_LISTED are read,
        including those of other agents.
        """
        return await self._list_visible(who, self._thread_ids(thread_id), limit)

    async def list_ready(self, who: Token, limit: int) -> list[Review]:
        """The reviews that can be claimed now, the longest waiting first."""
        return await self._list_visible(who, self._ready_ids(who), limit, only_ready=True)

    async def wait_ready(self, who: Token, wait: float, is_gone: Callable[[], bool]) -> None:
        """Waits at most `wait` seconds until a review can be claimed, or until the client `is_gone`."""

        async def is_any_ready() -> bool:
            return bool(await self.list_ready(who, 1))

        await self._long_poll.wait(None, who.agent, is_any_ready, wait, is_gone)

    async def _thread_ids(self, thread_id: str) -> AsyncIterator[str]:
        read = partial(self._access.store.thread_ids, thread_id, MAX_LISTED)
        for review_id in await self._access.run_with_retry(read):
            yield review_id

    async def _ready_ids(self, who: Token) -> AsyncIterator[str]:
        """All of them, by pages: those that can't be claimed now must not hide the others."""
        known, limit, is_last = set[str](), MAX_LISTED, False
        while not is_last:
            read = partial(self._access.store.ready_reviews, who.agent, limit)
            ids = await self._access.run_with_retry(read)
            for review_id in ids:
                if review_id not in known:
                    known.add(review_id)
                    yield review_id
            is_last, limit = len(ids) < limit, limit * 2

    async def _list_visible(
        self, who: Token, ids: AsyncIterator[str], limit: int, *, only_ready: bool = False
    ) -> list[Review]:
        """The first of these reviews that this token may see, until they exceed MAX_BODY. `only_ready`:
        leaves out those that can't be claimed now, that can't be read, or for which a living process waits.
        """
        visible: list[Review] = []
        size = 0
        async for review_id in ids:
            if len(visible) == limit or size > MAX_BODY:
                break
            try:
                snapshot = await self._access.load_review(who, review_id)
                if not only_ready or await self._is_ready(snapshot):
                    visible.append(snapshot.review)
                    size += review_size(snapshot.review)
            except ApiProblem:  # another agent's, or just deleted
                continue
            except ReviewUnreadable as error:
                if not only_ready:
                    raise
                log.warning("%s", error)
        return visible

    async def _is_ready(self, snapshot: Snapshot) -> bool:
        """Whether the review can be claimed, and no process with a gate, with a live heartbeat, waits for
        it.
        """
        review, access = snapshot.review, self._access
        if snapshot.held:  # it must not take a place from others; its release adds it again
            await access.run_with_retry(partial(access.store.unschedule, review.id, review.agent))
            return False
        if not named_claims.is_claimable(review, snapshot.now):
            return False
        if review.waiting_process is None:
            return True
        return not await access.run_with_retry(
            partial(access.store.is_alive, review.waiting_process)
        )


def review_size(review: Review) -> int:
    """The approximate size of the review's long parts."""
    description_size = sum(len(action.request.description) for action in review.actions)
    return description_size + sum(len(args.data) for args in review.args.values())
