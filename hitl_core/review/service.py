"""Loads a review, applies one transition and commits the result. Nothing else writes reviews."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from weakref import WeakValueDictionary

from hitl_core import telemetry
from hitl_core.errors import (
    HitlError,
    RefusalCode,
    Refused,
    StoreUnavailable,
    safe_message,
)
from hitl_core.model import UNAUDITED_CODES, Event, MessageRef, Place, Review, Reviewer, Snapshot
from hitl_core.review import escalation, holds
from hitl_core.review.commands import Command, Findings, apply_command
from hitl_core.review.lease_clock import seconds_since_boot
from hitl_core.review.runs import claims, seconds_left
from hitl_core.review.storage import ReviewLoader, build_write, check_same_turn
from hitl_core.review.transition import (
    ChangeResult,
    SnapshotFunction,
    Transition,
    TransitionFunction,
)
from hitl_core.store import RejectedCall, Store

log = logging.getLogger(__name__)


#: How often a change is tried if others change the review at the same time. Then it is refused.
MAX_ATTEMPTS = 10
#: How many operation ids a review stores. There must be fewer operations than this between a lost reply and
#: its retry, even if all calls of a long turn start at once.
MAX_OPS = 128


class Reviews(ReviewLoader):
    """`store` and `retry_seconds`: see `ReviewLoader`."""

    def __init__(self, store: Store, retry_seconds: float = 2.0) -> None:
        super().__init__(store, retry_seconds)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def submit(
        self, review: Review, event: Event, rejected: Sequence[RejectedCall] | None = None
    ) -> Review:
        """Store a new review, with the rejected calls that it follows, or return the one that an earlier try
        has stored. `rejected`: those of its thread, if the caller has just read them. Raises ReviewConflict
        if a review with this id has other arguments, or is for another requester.
        """
        telemetry.recent_threads.add(review.id, review.thread_id)
        attributes = telemetry.message_attributes(review, "send")
        with telemetry.span("submit hitl.reviews", attributes, kind="PRODUCER"):
            if (trace := telemetry.current_context()) is not None:
                review = review.model_copy(update={"trace": trace})
            return await self._submit(await self.follow_rejected(review, rejected), event)

    async def _submit(self, review: Review, event: Event) -> Review:
        write = build_write(None, Transition(review, event))
        if await self.with_retry(lambda: self.store.commit(write)):
            return review
        stored = (await self.load(review.id)).review
        check_same_turn(stored, review)
        await self.with_retry(lambda: self.store.confirm(review.id))
        return stored

    async def change(
        self, review_id: str, op: str, apply: TransitionFunction, snapshot: Snapshot | None = None
    ) -> ChangeResult:
        """Apply a transition exactly once, even if replies are lost. `op` is its id and is the same on each
        try.

        A `snapshot` that was just loaded saves one load. If it is no longer current, the review is loaded
        again. A held review is only changed by its release, a cancellation, or a vote to cancel.

        Raises what the transition raises, Refused("held"), ReviewNotFound, StoreUnavailable, and
        Refused("busy") if others changed the review on every try.
        """
        return await self._change(review_id, op, lambda s: apply(s.review, s.now), snapshot)

    async def _change(
        self, review_id: str, op: str, apply: SnapshotFunction, snapshot: Snapshot | None
    ) -> ChangeResult:
        end = time.monotonic() + self._retry_seconds
        # One change at a time in this process. The calls of a long turn may all start at once, and without
        # the lock their writes would conflict again and again.
        lock = self._locks.setdefault(review_id, asyncio.Lock())
        try:
            async with lock:
                return await self._try_change(review_id, op, apply, end, snapshot)
        except HitlError as error:
            if self._started_calls.has(review_id) and not isinstance(error, StoreUnavailable):
                await self.mark_started(review_id)
            raise

    async def _try_change(
        self,
        review_id: str,
        op: str,
        apply: SnapshotFunction,
        end: float,
        loaded: Snapshot | None,
    ) -> ChangeResult:
        lost = 0
        while lost < MAX_ATTEMPTS:
            snapshot, loaded = loaded or await self.load_until(review_id, end), None
            before, now = snapshot.review, snapshot.now
            if op in before.ops:
                await self.with_retry(lambda: self.store.confirm(review_id))
                return ChangeResult(before, now, is_new=False)
            if snapshot.held:
                await self.store.unschedule(review_id, before.agent)
            changed = holds.apply_unless_held(apply, snapshot)
            ops = dict([*before.ops.items(), (op, changed.event.kind)][-MAX_OPS:])
            after = changed.review.model_copy(update={"version": before.version + 1, "ops": ops})
            event = changed.event.model_copy(update={"op": op})
            write = build_write(snapshot, Transition(after, event))
            try:
                if await self.store.commit(write):
                    return ChangeResult(after, now, is_new=True)
                lost += 1
                pause = 0.001 * 2**lost
            except StoreUnavailable:
                # It may have been written: load the review again, and look for `op`.
                pause = 0.1
                if time.monotonic() + pause > end:
                    raise
            await asyncio.sleep(random.uniform(0, pause))
        raise Refused("busy", "Other people are deciding at the same moment. Press again.")

    async def redraw(
        self,
        review_id: str,
        message: MessageRef,
        snapshot: Snapshot | None = None,
        *,
        only_duplicate: bool = False,
        only_newer: bool = False,
    ) -> None:
        """Ask the bots to update this message, because it does not show what is stored. If it is a duplicate
        of the review's card, they delete it. `only_duplicate`: don't update the card itself; `only_newer`:
        only if a newer state is stored than what the bots have shown. A `snapshot`
        that was just loaded saves one load. It raises nothing, and it is safe to repeat.
        """
        try:
            if (snapshot := snapshot or await self.store.load(review_id)) is None:
                return
            here = {ref.key[:2]: copy for copy, ref in snapshot.posts.items()}
            copy = next(
                (copy for copy, ref in snapshot.posts.items() if ref.key == message.key), None
            )
            if copy is not None:
                if not only_duplicate:
                    kind = "card" if only_newer else "check"
                    await self.store.redraw(review_id, copy, kind)
            elif (there := here.get(message.key[:2])) is not None:
                await self.store.redraw(review_id, there, "stray", message.model_dump_json())
        except HitlError as error:
            log.warning(
                "review %s: its card is not drawn again: %s", review_id, safe_message(error)
            )

    async def can_still_run(
        self, applied: ChangeResult, key: str, fence: int, since: float
    ) -> bool:
        """Whether the call that was just started may run. `since`: `seconds_since_boot()` before its start.

        The reply to `start` was true when it was stored. If it came late, or from a retry, the lease may have
        ended since, and a person may have answered "run it again": so the review is loaded again. False if
        the call is finished, or if this process has started it before, and the store lost that. Raises
        LeaseLost, Refused("held"), StoreUnavailable.
        """
        review, sure, is_new = applied.review, applied.is_new, applied.is_new
        while (
            not sure
            or review.lease is None
            or seconds_since_boot() - since >= seconds_left(review.lease, applied.now)
        ):
            since = seconds_since_boot()
            snapshot = await self.load(review.id)
            holds.check_not_held(snapshot)
            review, sure = snapshot.review, True
            applied = ChangeResult(review, snapshot.now, is_new=True)
            if not claims.is_started(review, fence, key, snapshot.now):
                return False
        return self._started_calls.add(review, key) or not is_new  # a repeated `start` is not lost

    async def record_refusal(
        self,
        review_id: str,
        code: RefusalCode,
        by: Reviewer,
        op: str,
        *,
        action: str | None = None,
        place: Place | None = None,
    ) -> None:
        """Add a refused attempt to the audit, unless its code is in UNAUDITED_CODES. It raises nothing: the
        person must see the refusal, even if the audit can't be written.
        """
        if code in UNAUDITED_CODES:
            return
        event = Event(
            kind="refused", review_id=review_id, at=0.0, by=by, action=action, what=code, place=place,
            op=op,
        )  # fmt: skip
        try:
            await self.store.record_event(review_id, event)
        except HitlError as error:
            log.warning(
                "review %s: a refused attempt is not in the audit: %s",
                review_id,
                safe_message(error),
            )

    async def apply(
        self, command: Command, snapshot: Snapshot | None = None, findings: Findings | None = None
    ) -> ChangeResult:
        """Apply a command. `snapshot`: see `change`. Raises what `change` and `apply_command` raise."""
        return await self._change(
            command.review_id, command.op, lambda s: apply_command(s, command, findings), snapshot
        )

    async def apply_due(self, review_id: str) -> ChangeResult | None:
        """Do what is due. None if nothing is due. `is_new` is False if another bot was faster."""

        def apply_now(review: Review, now: float) -> Transition:
            if review.status == "claimed":
                return claims.expire_lease(review, now)
            return escalation.apply_due(review, now)

        snapshot = await self.load(review_id)
        try:
            # Two bots at the same version have the same op, so only one of them changes the review.
            op = f"fire:{snapshot.review.version}"
            return await self.change(review_id, op, apply_now, snapshot)
        except Refused:
            return None
