"""The operations of the HTTP API on one review that an agent continues: start, renew, finish, cancel."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from uuid import uuid4

from hitl_core.errors import LeaseLost, Refused
from hitl_core.failpoints import failpoint
from hitl_core.model import Call, Review, Snapshot, Token
from hitl_core.review import Transition, claims, commands, seconds_since_boot
from hitl_core.store import hash_of

from ..web import ApiProblem
from . import named_claims
from .store_access import StoreAccess
from .wire import DEFAULT_LEASE, Cancel, Done, OnceIn, OnceOut, Renew, RenewOut

#: The waiting process of a review that was submitted over HTTP. It has no heartbeat, so any holder may claim
#: the review.
HTTP_PROCESS = "http"


class AgentClaims:
    """Its methods raise what AgentApi's raise. `key` is the client's Idempotency-Key."""

    def __init__(self, access: StoreAccess) -> None:
        self._access = access

    async def once(self, who: Token, review_id: str, body: OnceIn, key: str | None) -> OnceOut:
        """Whether this call may start now, for the first time. Then this holder has claimed the review."""
        snapshot = await self._access.load_review(who, review_id)
        review, holder = snapshot.review, _holder_id(who, body.holder)
        call = _find_call(review, body.tool_call_id)
        named_claims.check_may_run(review, call)
        named_claims.check_unchanged(review, call, body.name, body.args)
        # The same as `Outcome.idempotency_key`.
        answer = partial(OnceOut, idempotency_key=f"{review.id}:{call.key}")
        if review.status == "done":
            return answer(run=False, fencing_token=review.fence, lease_until=None)
        await failpoint("api.before_once")
        claimed_review = await self._ensure_claim(snapshot, holder, body.lease)

        def start(review: Review, now: float) -> Transition:
            return named_claims.start(review, claimed_review.fence, call, now, body.lease)

        # With the claim's number, because the same key in a later claim is another operation.
        op = _operation_id("once", who, key, call.key, str(claimed_review.fence))
        since = seconds_since_boot()
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
        await failpoint("api.after_once")
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

        async with self._notes_started(review_id):
            renewed_review = await self._access.change(review_id, _operation_id("renew", who), keep)
        return RenewOut(lease_until=_lease_until(renewed_review.review) or 0.0)

    async def finish(self, who: Token, review_id: str, body: Done, key: str | None) -> Review:
        """Record that the agent has finished the review. A review that nobody has claimed (because nothing
        had to run) is claimed first.
        """
        snapshot = await self._access.load_review(who, review_id)
        review, op = snapshot.review, _operation_id("done", who, key)
        if review.status == "done":
            if op in review.ops or named_claims.has_same_results(review, body.results):
                return review
            raise ApiProblem("done", "This review is done already. These results were not stored.")
        async with self._notes_started(review_id):
            # Wrong results are refused before the claim.
            named_claims.new_results(review, body.results)
            if review.status == "settled":
                named_claims.check_complete(review, body.results)
            holder = _holder_id(who, body.holder)
            claimed_review = await self._ensure_claim(snapshot, holder, DEFAULT_LEASE)

            def finish(review: Review, now: float) -> Transition:
                results = named_claims.new_results(review, body.results)
                named_claims.check_complete(review, body.results)
                return claims.finish(review, claimed_review.fence, results, now)

            return (await self._access.change(review_id, op, finish)).review

    async def cancel(self, who: Token, review_id: str, body: Cancel) -> Review:
        """Withdraw a review before any of its calls ran. Does nothing if it is already cancelled.

        The agent gets the outcome in the answer. So the review is then done, unless a process with a gate
        must continue it.
        """
        review = (await self._access.load_review(who, review_id)).review
        if review.cancelled is not None:
            return review

        def cancel(review: Review, now: float) -> Transition:
            transition = commands.cancel(review, None, body.reason, now)
            return (
                named_claims.finish_cancelled(transition, now)
                if review.waiting_process == HTTP_PROCESS
                else transition
            )

        try:
            return (
                await self._access.change(review_id, _operation_id("cancel", who), cancel)
            ).review
        except Refused as refused:
            if refused.code != "cancelled":
                raise
            return (await self._access.load_review(who, review_id)).review

    @asynccontextmanager
    async def _notes_started(self, review_id: str) -> AsyncGenerator[None, None]:
        """A holder that renews or finishes has started calls. If the store lost that, its review is held, and
        perhaps only the holder knows about the calls. Then marks are set, so that people are asked about each
        call that may have run.
        """
        try:
            yield
        except (ApiProblem, LeaseLost, Refused):
            await self._access.run(
                partial(self._access.reviews.mark_started, review_id, named_claims.may_have_run)
            )
            raise

    async def _ensure_claim(self, snapshot: Snapshot, holder: str, lease: float) -> Review:
        """The review, claimed by this holder. Raises ApiProblem if it can't be claimed."""
        if named_claims.is_held_by(snapshot.review, holder, snapshot.now):
            return snapshot.review

        def take(review: Review, now: float) -> Transition:
            return named_claims.claim(review, holder, now, lease)

        op = f"http:{uuid4().hex}"
        claimed_review = (await self._access.change(snapshot.review.id, op, take)).review
        named_claims.check_doubts(claimed_review)
        return claimed_review


def _find_call(review: Review, tool_call_id: str) -> Call:
    for call in review.calls:
        if call.tool_call_id == tool_call_id:
            return call
    raise ApiProblem("no_such_call", "This review has no such call.", pointer="/tool_call_id")


def _holder_id(who: Token, name: str) -> str:
    return f"http:{who.id}:{name}"


def _operation_id(route: str, who: Token, key: str | None = None, *parts: str) -> str:
    """The id of the operation: made from the client's key, or unique."""
    return f"http:{hash_of(route, who.id, key, *parts) if key else uuid4().hex}"


def _lease_until(review: Review) -> float | None:
    return review.lease.until if review.lease else None
