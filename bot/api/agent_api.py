"""The operations of the HTTP API, one method each, for an agent with a token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from uuid import uuid4

from hitl_core.errors import Refused, ReviewConflict
from hitl_core.failpoints import failpoint
from hitl_core.gate import PolicyRecorder, ReviewKey, find_next_turn, read_origin
from hitl_core.model import Call, Review, Snapshot, Token
from hitl_core.review import Cancel as CancelReview
from hitl_core.review import Transition, apply_command, claims, uptime
from hitl_core.store import Store, digest_of

from ..web import ApiProblem, invalid_at
from . import named_claims
from .long_poll import LongPoll
from .policies import Policies
from .review_view import has_outcome
from .store_access import StoreAccess
from .submissions import JudgedTurn, judge_turn
from .wire import (
    DEFAULT_LEASE,
    MAX_BODY,
    Cancel,
    Done,
    OnceIn,
    OnceOut,
    Renew,
    RenewOut,
    Submit,
    SubmitInterrupt,
)

#: The waiter of a review that was submitted over HTTP. It has no heartbeat, so any holder may claim the
#: review.
HTTP_WAITER = "http"


class AgentApi:
    """Every method raises ApiProblem, LeaseLost, Refused, StoreUnavailable or StoreError, and then changed
    nothing.

    A token sees only its agent's reviews. `key` is the client's Idempotency-Key: a repeated request with the
    same key gets the same answer.
    """

    def __init__(self, store: Store, policies: Policies) -> None:
        self._access, self._policies, self._long_poll = (
            StoreAccess(store),
            policies,
            LongPoll(store),
        )
        self._policy_notes = PolicyRecorder(self._access.reviews)

    async def close(self) -> None:
        """Answer all long polls now."""
        await self._long_poll.close()

    async def authenticate(self, text: str) -> Token:
        """The token with this text."""
        return await self._access.load_token(text)

    async def submit(
        self, who: Token, submission: Submit | SubmitInterrupt, *, large: bool = False
    ) -> list[tuple[Review, bool]]:
        """The reviews (several only for several interrupts), each with whether it is new: False if this turn
        was submitted before.
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
        if submission.turn is None:
            ids = [call.id for call in judged_turns[0].request.calls]
            turn = await self._access.run(partial(find_next_turn, self._access.reviews, turn, ids))
        return [await self._store_turn(each, turn) for each in judged_turns]

    async def _store_turn(self, judged_turn: JudgedTurn, turn: ReviewKey) -> tuple[Review, bool]:
        reviews, store = self._access.reviews, self._access.store
        now = await self._access.run_with_retry(store.now)
        with invalid_at("/requester"):
            review, event = judged_turn.build(turn, store.partitions, now)
        review = review.model_copy(update={"waiter": HTTP_WAITER})
        await failpoint("door.before_submit")
        try:
            stored = await self._access.run(partial(reviews.submit, review, event))
        except ReviewConflict as error:
            raise ApiProblem("conflict", str(error)) from error
        return stored, stored is review

    async def wait_settled(
        self, who: Token, review_id: str, wait: float, is_gone: Callable[[], bool]
    ) -> Review:
        """Waits at most `wait` seconds until everything is decided, or until the client `is_gone`."""

        async def look() -> tuple[Review, bool]:
            review = (await self._access.load_review(who, review_id)).review
            return review, has_outcome(review)

        return await self._long_poll.wait(review_id, look, wait, is_gone)

    async def list_thread(self, who: Token, thread_id: str, limit: int) -> list[Review]:
        """The thread's reviews, live ones first, in the order of submission."""
        ids = await self._access.run_with_retry(
            partial(self._access.store.thread_reviews, thread_id)
        )
        return await self._list_visible(who, ids, limit)

    async def list_ready(
        self, who: Token, limit: int, wait: float, is_gone: Callable[[], bool]
    ) -> list[Review]:
        """The reviews that can be claimed now, the longest waiting first. Waits until there is one."""

        async def look() -> tuple[list[Review], bool]:
            ids = await self._access.run_with_retry(
                partial(self._access.store.ready_reviews, who.agent, 1000)
            )
            reviews = await self._list_visible(who, ids, limit, without_waiter=True)
            return reviews, bool(reviews)

        return await self._long_poll.wait(None, look, wait, is_gone)

    async def once(self, who: Token, review_id: str, body: OnceIn, key: str | None) -> OnceOut:
        """Whether this call may start now, for the first time. If so, this holder has claimed the review."""
        snapshot = await self._access.load_review(who, review_id)
        review, holder = snapshot.review, _holder_id(who, body.holder)
        call = _find_call(review, body.tool_call_id)
        named_claims.check_may_run(review, call)
        named_claims.check_unchanged(review, call, body.name, body.args)
        # The same as `Outcome.idempotency_key`.
        answer = partial(OnceOut, idempotency_key=f"{review.id}:{call.key}")
        if review.status == "done":
            return answer(run=False, fencing_token=review.fence, lease_until=None)
        await failpoint("door.before_once")
        claimed_review = await self._ensure_claim(snapshot, holder, body.lease)

        def start(review: Review, now: float) -> Transition:
            return named_claims.start(review, claimed_review.fence, call, now, body.lease)

        # With the claim's number, because in a later claim the same key is another operation.
        op = _operation_id("once", who, key, call.key, str(claimed_review.fence))
        since = uptime()
        try:
            applied = await self._access.change(review_id, op, start)
        except Refused as refused:
            if refused.code != "already_started":
                raise
            return answer(
                run=False,
                fencing_token=claimed_review.fence,
                lease_until=_lease_until(claimed_review),
            )
        await failpoint("door.after_once")
        confirm_start = partial(
            self._access.reviews.can_still_run, applied, call.key, claimed_review.fence, since
        )
        run = await self._access.run(confirm_start)
        return answer(
            run=run, fencing_token=claimed_review.fence, lease_until=_lease_until(applied.review)
        )

    async def renew(self, who: Token, review_id: str, body: Renew) -> RenewOut:
        await self._access.load_review(who, review_id)
        holder = _holder_id(who, body.holder)

        def keep(review: Review, now: float) -> Transition:
            return named_claims.renew(review, holder, now, body.lease)

        renewed_review = await self._access.change(review_id, _operation_id("renew", who), keep)
        return RenewOut(lease_until=_lease_until(renewed_review.review) or 0.0)

    async def finish(self, who: Token, review_id: str, body: Done, key: str | None) -> Review:
        """The agent has finished the review. If nobody has claimed it (nothing had to run), it is claimed
        first.
        """
        snapshot = await self._access.load_review(who, review_id)
        review, op = snapshot.review, _operation_id("done", who, key)
        if review.status == "done":
            if op in review.ops or named_claims.has_same_results(review, body.results):
                return review
            raise ApiProblem("done", "This review is done already. These results were not stored.")
        named_claims.result_lines(
            review, body.results
        )  # so that wrong results are refused before the claim
        claimed_review = await self._ensure_claim(
            snapshot, _holder_id(who, body.holder), DEFAULT_LEASE
        )

        def finish(review: Review, now: float) -> Transition:
            lines = named_claims.result_lines(review, body.results)
            return claims.finish(review, claimed_review.fence, lines, now)

        return (await self._access.change(review_id, op, finish)).review

    async def cancel(self, who: Token, review_id: str, body: Cancel) -> Review:
        """Withdraw a review before any of its calls ran. No effect if it is cancelled already.

        The answer is the outcome, so the review is then done, unless a process with a gate must continue it.
        """
        review = (await self._access.load_review(who, review_id)).review
        if review.cancelled is not None:
            return review

        command = CancelReview(review_id, None, _operation_id("cancel", who), body.reason)

        def cancel(review: Review, now: float) -> Transition:
            transition = apply_command(review, command, now)
            return (
                named_claims.finish_cancelled(transition, now)
                if review.waiter == HTTP_WAITER
                else transition
            )

        try:
            return (await self._access.change(review_id, command.op, cancel)).review
        except Refused as refused:
            if refused.code != "cancelled":
                raise
            return (await self._access.load_review(who, review_id)).review

    async def _ensure_claim(self, snapshot: Snapshot, holder: str, lease: float) -> Review:
        """The review, claimed by this holder. Raises ApiProblem if that is not possible."""
        if named_claims.is_held_by(snapshot.review, holder, snapshot.now):
            return snapshot.review

        def take(review: Review, now: float) -> Transition:
            return named_claims.claim(review, holder, now, lease)

        op = f"http:{uuid4().hex}"
        claimed_review = (await self._access.change(snapshot.review.id, op, take)).review
        named_claims.check_doubts(claimed_review)
        return claimed_review

    async def _list_visible(
        self, who: Token, ids: Sequence[str], limit: int, *, without_waiter: bool = False
    ) -> list[Review]:
        """The first of these that this token may see, until they are larger than MAX_BODY. `without_waiter`:
        only those for which no living process waits.
        """
        visible: list[Review] = []
        size = 0
        for review_id in ids:
            if len(visible) == limit or size > MAX_BODY:
                break
            with suppress(ApiProblem):  # another agent's, or just deleted
                review = (await self._access.load_review(who, review_id)).review
                if not (without_waiter and await self._is_waited_for(review)):
                    visible.append(review)
                    size += review_size(review)
        return visible

    async def _is_waited_for(self, review: Review) -> bool:
        """Whether a process with a gate waits for it: its heartbeat is alive."""
        if (waiter := review.waiter) is None:
            return False
        return await self._access.run_with_retry(partial(self._access.store.is_alive, waiter))


def _find_call(review: Review, tool_call_id: str) -> Call:
    for call in review.calls:
        if call.tool_call_id == tool_call_id:
            return call
    raise ApiProblem("no_such_call", "This review has no such call.", pointer="/tool_call_id")


def review_size(review: Review) -> int:
    """The approximate size of its long parts."""
    description_size = sum(len(action.request.description) for action in review.actions)
    return description_size + sum(len(args.data) for args in review.args.values())


def _holder_id(who: Token, name: str) -> str:
    return f"http:{who.id}:{name}"


def _operation_id(route: str, who: Token, key: str | None = None, *parts: str) -> str:
    """The operation's id: made from the client's key, else unique."""
    return f"http:{digest_of(route, who.id, key, *parts) if key else uuid4().hex}"


def _lease_until(review: Review) -> float | None:
    return review.lease.until if review.lease else None
